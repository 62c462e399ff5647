"""The one form that every preference format is brought to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import Field, JsonValue, ValidationError

from contracts.errors import ContractBroken
from contracts.model import Contract, canonical_json, describe, digest
from contracts.names import Digest
from trajectories.canonical import canonical
from trajectories.message import Message, plain


class Pair(Contract):
    """Two answers to one prompt, of which the first was preferred."""

    id: Digest
    prompt: tuple[Message, ...]
    chosen: tuple[Message, ...]
    rejected: tuple[Message, ...]
    tools: str = Field("", description="Functions that may be called: JSON text, empty if none.")
    task: str = Field("", description="What the answers are to, where it is not the prompt.")
    metadata: dict[str, JsonValue] = Field({}, description="Fields that the format has no use for.")

    @classmethod
    def of(
        cls,
        prompt: Sequence[Message],
        chosen: Sequence[Message],
        rejected: Sequence[Message],
        *,
        tools: str = "",
        task: str = "",
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> Self:
        """Make a pair whose id is the sha256 of its canonical content, metadata aside."""
        return cls(
            id=digest(_content(prompt, chosen, rejected, tools)),
            prompt=tuple(prompt),
            chosen=tuple(chosen),
            rejected=tuple(rejected),
            tools=tools,
            task=task,
            metadata=dict(metadata or {}),
        )

    @property
    def prompt_digest(self) -> str:
        """Hexadecimal sha256 of the prompt alone: equal for every pair of one prompt."""
        return digest(canonical(plain(self.prompt)))

    @property
    def is_intact(self) -> bool:
        """Whether the id is the digest of the content."""
        return self.id == digest(_content(self.prompt, self.chosen, self.rejected, self.tools))

    def to_line(self) -> bytes:
        """One line of canonical JSON without what is not there, newline included."""
        return canonical_json(self.model_dump(mode="json", exclude_defaults=True)) + b"\n"

    @classmethod
    def from_line(cls, line: bytes | str, *, where: str) -> Self:
        """Read what `to_line` wrote.

        Args:
            line: the JSON text; white space around it does not matter.
            where: the line's address, for the error.

        Raises:
            ContractBroken: not such a line, or its id is not that of its content.
        """
        try:
            pair = cls.model_validate_json(line)
        except ValidationError as error:
            raise ContractBroken(f"{where}: {describe(error)}") from error
        if not pair.is_intact:
            raise ContractBroken(f"{where}: the pair's id is not the digest of its content")
        return pair


def _content(
    prompt: Sequence[Message], chosen: Sequence[Message], rejected: Sequence[Message], tools: str
) -> bytes:
    sides = {"prompt": plain(prompt), "chosen": plain(chosen), "rejected": plain(rejected)}
    return canonical({**sides, "tools": tools} if tools else sides)
