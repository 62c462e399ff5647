"""Loading and saving a policy as the folder that plain `from_pretrained` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contracts.errors import JobFailed
from training.models.protocols import CausalModel, Tokenizer

_SHARD = "2GB"
"""Well under S3's 5 GiB for one put with a checksum."""


def load_tokenizer(folder: Path) -> Tokenizer:
    """Load a policy's tokenizer.

    Raises:
        JobFailed: the folder holds none, or one without a chat template.
    """
    from transformers import AutoTokenizer

    try:
        loaded: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise JobFailed(f"no tokenizer can be loaded from {folder}: {error}") from error
    tokenizer: Tokenizer = loaded
    if not tokenizer.chat_template:
        raise JobFailed(
            f"the tokenizer in {folder} has no chat template; add chat_template.jinja to it"
        )
    return tokenizer


def load_model(folder: Path, *, device: str = "cpu") -> CausalModel:
    """Load a policy's model in float32 from safetensors, with dropout off.

    Raises:
        JobFailed: the folder holds no such model.
    """
    import torch
    from transformers import AutoModelForCausalLM

    try:
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
        )
    except (OSError, ValueError) as error:
        raise JobFailed(f"no causal language model can be loaded from {folder}: {error}") from error
    made: CausalModel = model.to(device).eval()
    return made


def save_policy(folder: Path, model: CausalModel, tokenizer: Tokenizer) -> None:
    """Write model and tokenizer into an existing folder."""
    model.save_pretrained(folder, max_shard_size=_SHARD)
    tokenizer.save_pretrained(folder)


def pad_of(tokenizer: Tokenizer) -> int:
    """An id to pad with; any will do, as masks come from lengths."""
    return int(tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0)
