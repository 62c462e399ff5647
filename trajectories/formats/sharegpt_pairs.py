"""ShareGPT's form with two answers.

`{"conversations": [{from, value}, …], "chosen": {from, value}, "rejected": {from, value}}`,
with an optional `system` text.
"""

from __future__ import annotations

from trajectories.conversations import system_of
from trajectories.formats.record_format import Record, RecordFormat
from trajectories.leftovers import Extras
from trajectories.pair import Pair
from trajectories.pairing import Fields, Sides, make_pair
from trajectories.refusal import refuse
from trajectories.turns import read_answer, read_turns

_FIELDS = Fields("conversations", "chosen", "rejected")
_KNOWN = frozenset({*_FIELDS, "system"})


def _fits(record: Record) -> bool:
    return _FIELDS.prompt in record and (_FIELDS.chosen in record or _FIELDS.rejected in record)


def _read(record: Record) -> Pair:
    for field in _FIELDS:
        if record.get(field) is None:
            refuse(field, "is missing", "give conversations, chosen and rejected")
    extras: Extras = {}
    sides = Sides(
        system_of(record) + read_turns(record[_FIELDS.prompt], _FIELDS.prompt, extras),
        read_answer(record[_FIELDS.chosen], _FIELDS.chosen, extras),
        read_answer(record[_FIELDS.rejected], _FIELDS.rejected, extras),
    )
    return make_pair(record, sides, _FIELDS, _KNOWN, extras)


FORMAT = RecordFormat(
    name="sharegpt_pairs",
    marks="conversations with chosen or rejected",
    fits=_fits,
    read=_read,
    noun="pair",
)
