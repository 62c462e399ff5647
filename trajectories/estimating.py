"""How many tokens records are, before any tokenizer is at hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

BYTES_PER_TOKEN = 4.0
"""Of text in UTF-8. BPE vocabularies of 8,192 trained on seven public sets made 3.9 to 4.9."""
BYTES_PER_TOKEN_TINY = 2.7
"""The same of 1,024: 2.5 to 3.2."""
TINY_VOCABULARY = 4096
TURN_BYTES = 700
RECORD_BYTES = 1500
"""Of memory, beside the text."""
TURN_TOKENS = 4
"""A turn's role, opening and end."""


class Estimate:
    """Tokens of many records, and how many of them a context would cut.

    Attributes:
        tokens: of all, a prompt that two answers share counted once.
        records: how many were added.
        cut: how many are longer than the context, by their longest branch.
    """

    def __init__(self, *, context: int | None = None, vocabulary: int | None = None) -> None:
        """Prepare to count.

        Args:
            context: longest sequence in tokens, if it is known.
            vocabulary: size of the tokenizer's, if it is known.
        """
        self.tokens = 0
        self.records = 0
        self.cut = 0
        self._context = context
        tiny = vocabulary is not None and vocabulary < TINY_VOCABULARY
        self._per_token = BYTES_PER_TOKEN_TINY if tiny else BYTES_PER_TOKEN

    def add(self, record: Pair | Trajectory) -> int:
        """Count one record.

        Returns:
            Bytes that it takes in memory without its metadata, about.
        """
        shared, branches = _turns(record)
        sizes = [_size(turns) for turns in branches]
        given = _size(shared) + len(record.tools)
        turns = len(shared) + sum(len(branch) for branch in branches)
        self.records += 1
        self.tokens += self._tokens(given + sum(sizes), turns)
        longest = len(shared) + max(len(branch) for branch in branches)
        if self._context and self._tokens(given + max(sizes), longest) > self._context:
            self.cut += 1
        return given + sum(sizes) + turns * TURN_BYTES + RECORD_BYTES

    @property
    def cut_share(self) -> float | None:
        """Share of the records that the context would cut; None where it is not known."""
        return self.cut / self.records if self._context and self.records else None

    def _tokens(self, size: int, turns: int) -> int:
        return math.ceil(size / self._per_token) + turns * TURN_TOKENS


def _turns(record: Pair | Trajectory) -> tuple[Sequence[Message], list[Sequence[Message]]]:
    if isinstance(record, Pair):
        return record.prompt, [record.chosen, record.rejected]
    return (), [record.messages]


def _size(turns: Sequence[Message]) -> int:
    return sum(
        len(turn.content.encode())
        + len(turn.reasoning.encode())
        + sum(len(call.name) + len(call.arguments.encode()) for call in turn.tool_calls)
        for turn in turns
    )
