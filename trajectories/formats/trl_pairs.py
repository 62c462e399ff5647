"""TRL's preference form: `prompt`, `chosen`, `rejected`, each text or a list of messages.

Without a `prompt`, lists of messages share it as their longest common beginning.
"""

from __future__ import annotations

from collections.abc import Sequence

from trajectories.formats.record_format import Record, RecordFormat
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.pairing import Fields, make_pair
from trajectories.refusal import refuse
from trajectories.turns import clean_text, read_answer, read_turns

_FIELDS = Fields("prompt", "chosen", "rejected")
_Sides = tuple[Sequence[Message], Sequence[Message], Sequence[Message]]


def _fits(record: Record) -> bool:
    return (
        _FIELDS.chosen in record or _FIELDS.rejected in record
    ) and "conversations" not in record


def _read(record: Record) -> Pair:
    for field in (_FIELDS.chosen, _FIELDS.rejected):
        if record.get(field) is None:
            refuse(field, "is missing", "give prompt, chosen and rejected")
    chosen = read_answer(record[_FIELDS.chosen], _FIELDS.chosen)
    rejected = read_answer(record[_FIELDS.rejected], _FIELDS.rejected)
    if record.get(_FIELDS.prompt) is None:
        sides = _implicit(record, chosen, rejected)
    else:
        sides = _explicit(_prompt(record[_FIELDS.prompt]), chosen, rejected)
    return make_pair(*sides, _FIELDS)


def _prompt(value: object) -> tuple[Message, ...]:
    if isinstance(value, str):
        return (Message(role="user", content=clean_text(value, _FIELDS.prompt)),)
    return read_turns(value, _FIELDS.prompt)


def _explicit(
    prompt: Sequence[Message], chosen: Sequence[Message], rejected: Sequence[Message]
) -> _Sides:
    """Many files repeat the prompt at the start of both answers; it counts once."""
    size = len(prompt)
    if prompt and tuple(chosen[:size]) == tuple(rejected[:size]) == tuple(prompt):
        return prompt, chosen[size:], rejected[size:]
    return prompt, chosen, rejected


def _implicit(record: Record, chosen: Sequence[Message], rejected: Sequence[Message]) -> _Sides:
    if isinstance(record[_FIELDS.chosen], str) or isinstance(record[_FIELDS.rejected], str):
        refuse(
            _FIELDS.prompt,
            "is missing, and the answers are plain text",
            "give prompt; only lists of messages can carry it within the answers",
        )
    size = _common(chosen, rejected)
    if size == len(chosen) == len(rejected):
        # Equal to the last turn: leave that one to the answers, where it is refused by name.
        size -= 1
    return chosen[:size], chosen[size:], rejected[size:]


def _common(left: Sequence[Message], right: Sequence[Message]) -> int:
    size = 0
    for mine, other in zip(left, right, strict=False):
        if mine != other:
            break
        size += 1
    return size


FORMAT = RecordFormat(
    name="trl_pairs",
    marks="chosen or rejected, without conversations",
    fits=_fits,
    read=_read,
)
