"""ShareGPT's form with two answers.

`{"conversations": [{from, value}, …], "chosen": {from, value}, "rejected": {from, value}}`,
with an optional `system` text.
"""

from __future__ import annotations

from trajectories.formats.record_format import Record, RecordFormat
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.pairing import Fields, make_pair
from trajectories.refusal import kind, refuse
from trajectories.turns import clean_text, read_answer, read_turns

_FIELDS = Fields("conversations", "chosen", "rejected")


def _fits(record: Record) -> bool:
    return _FIELDS.prompt in record and (_FIELDS.chosen in record or _FIELDS.rejected in record)


def _read(record: Record) -> Pair:
    for field in _FIELDS:
        if record.get(field) is None:
            refuse(field, "is missing", "give conversations, chosen and rejected")
    return make_pair(
        _system(record) + read_turns(record[_FIELDS.prompt], _FIELDS.prompt),
        read_answer(record[_FIELDS.chosen], _FIELDS.chosen),
        read_answer(record[_FIELDS.rejected], _FIELDS.rejected),
        _FIELDS,
    )


def _system(record: Record) -> tuple[Message, ...]:
    system = record.get("system")
    if system is None or system == "":
        return ()
    if not isinstance(system, str):
        refuse("system", f"is {kind(system)}, not text", "write the system prompt as text")
    return (Message(role="system", content=clean_text(system, "system")),)


FORMAT = RecordFormat(
    name="sharegpt_pairs",
    marks="conversations with chosen or rejected",
    fits=_fits,
    read=_read,
)
