"""Two whole conversations, as LLaMA-Factory's typed form has them.

`{"chosen_messages": [{role, content}, …], "rejected_messages": [{role, content}, …]}`; the prompt
is their common beginning.
"""

from __future__ import annotations

from trajectories.formats.record_format import Record, RecordFormat
from trajectories.leftovers import Extras
from trajectories.pair import Pair
from trajectories.pairing import Fields, make_pair, part
from trajectories.refusal import refuse
from trajectories.turns import read_turns

_FIELDS = Fields("chosen_messages", "chosen_messages", "rejected_messages")
_KNOWN = frozenset(_FIELDS)


def _fits(record: Record) -> bool:
    return _FIELDS.chosen in record or _FIELDS.rejected in record


def _read(record: Record) -> Pair:
    extras: Extras = {}
    for field in (_FIELDS.chosen, _FIELDS.rejected):
        if record.get(field) is None:
            refuse(field, "is missing", "give chosen_messages and rejected_messages")
    chosen = read_turns(record[_FIELDS.chosen], _FIELDS.chosen, extras)
    rejected = read_turns(record[_FIELDS.rejected], _FIELDS.rejected, extras)
    return make_pair(record, part(chosen, rejected, _FIELDS), _FIELDS, _KNOWN, extras)


FORMAT = RecordFormat(
    name="message_pairs",
    marks="chosen_messages or rejected_messages",
    fits=_fits,
    read=_read,
    noun="pair",
)
