"""What we use of a Hugging Face model and tokenizer, said without importing them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter


class _Logits(Protocol):
    logits: Tensor


class CausalModel(Protocol):
    """A causal language model."""

    config: Any

    def __call__(self, *, input_ids: Tensor, use_cache: bool) -> _Logits: ...  # noqa: D102

    def parameters(self) -> Iterator[Parameter]: ...  # noqa: D102

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]: ...  # noqa: D102

    def get_output_embeddings(self) -> Any: ...  # noqa: ANN401, D102 - as transformers says

    def save_pretrained(self, folder: Path, *, max_shard_size: str) -> None: ...  # noqa: D102


class Tokenizer(Protocol):
    """A tokenizer with a chat template."""

    all_special_tokens: list[str]
    added_tokens_decoder: dict[int, Any]
    eos_token_id: int | None
    pad_token_id: int | None
    chat_template: str | None

    def __len__(self) -> int: ...

    def __call__(  # noqa: D102
        self, texts: list[str], *, add_special_tokens: bool, verbose: bool
    ) -> dict[str, list[list[int]]]: ...

    def apply_chat_template(  # noqa: D102
        self,
        conversation: Sequence[dict[str, Any]],
        *,
        tools: list[dict[str, Any]] | None = None,
        tokenize: bool,
        add_generation_prompt: bool,
    ) -> str: ...

    def decode(self, ids: list[int], *, skip_special_tokens: bool) -> str: ...  # noqa: D102

    def save_pretrained(self, folder: Path) -> object: ...  # noqa: D102
