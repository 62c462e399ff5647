"""The one form that every preference format is brought to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import ValidationError

from contracts.errors import ContractBroken
from contracts.model import Contract, canonical_json, describe, digest
from contracts.names import Digest

Role = Literal["system", "user", "assistant", "tool"]


class Message(Contract):
    """One turn of a conversation."""

    role: Role
    content: str


class Pair(Contract):
    """Two answers to one prompt, of which the first was preferred."""

    id: Digest
    prompt: tuple[Message, ...]
    chosen: tuple[Message, ...]
    rejected: tuple[Message, ...]

    @classmethod
    def of(
        cls,
        prompt: Sequence[Message],
        chosen: Sequence[Message],
        rejected: Sequence[Message],
    ) -> Self:
        """Make a pair whose id is the sha256 of its canonical content."""
        return cls(
            id=digest(_content(prompt, chosen, rejected)),
            prompt=tuple(prompt),
            chosen=tuple(chosen),
            rejected=tuple(rejected),
        )

    @property
    def prompt_digest(self) -> str:
        """Hexadecimal sha256 of the prompt alone: equal for every pair of one prompt."""
        return digest(canonical_json(_plain(self.prompt)))

    def to_line(self) -> bytes:
        """One line of canonical JSON, newline included."""
        return canonical_json(self.model_dump(mode="json")) + b"\n"

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
        if pair.id != digest(_content(pair.prompt, pair.chosen, pair.rejected)):
            raise ContractBroken(f"{where}: the pair's id is not the digest of its content")
        return pair


def _plain(turns: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.content} for turn in turns]


def _content(
    prompt: Sequence[Message], chosen: Sequence[Message], rejected: Sequence[Message]
) -> bytes:
    return canonical_json(
        {"prompt": _plain(prompt), "chosen": _plain(chosen), "rejected": _plain(rejected)}
    )
