"""HH-RLHF's form: `chosen` and `rejected` are whole transcripts.

Turns begin with a blank line and `Human:` or `Assistant:`.
"""

from __future__ import annotations

import re

from trajectories.formats.record_format import Record, RecordFormat
from trajectories.leftovers import Extras
from trajectories.message import Message, Role
from trajectories.pair import Pair
from trajectories.pairing import Fields, make_pair, part
from trajectories.refusal import kind, refuse
from trajectories.text import clean_text

_FIELDS = Fields("chosen", "chosen", "rejected")
_KNOWN = frozenset({"chosen", "rejected"})
_BEGINS = re.compile(r"\s*Human:")
_TURN = re.compile(r"(?:\A\s*|\n[ \t\r]*\n)(Human|Assistant):")
_ROLES: dict[str, Role] = {"Human": "user", "Assistant": "assistant"}


def _fits(record: Record) -> bool:
    if record.get("prompt") is not None or "conversations" in record:
        return False
    sides = (record.get("chosen"), record.get("rejected"))
    return any(isinstance(side, str) and _BEGINS.match(side) for side in sides)


def _read(record: Record) -> Pair:
    extras: Extras = {}
    chosen, rejected = (_turns(record.get(field), field) for field in ("chosen", "rejected"))
    sides = part(chosen, rejected, _FIELDS)
    return make_pair(record, sides, _FIELDS, _KNOWN, extras)


def _turns(value: object, field: str) -> tuple[Message, ...]:
    if value is None:
        refuse(field, "is missing", "give chosen and rejected")
    if not isinstance(value, str):
        refuse(field, f"is {kind(value)}, not a transcript", "write 'Human: …' and 'Assistant: …'")
    pieces = _TURN.split(clean_text(value, field))
    if len(pieces) == 1 or pieces[0].strip():
        refuse(field, "does not begin with Human:", "begin each turn with Human: or Assistant:")
    turns = zip(pieces[1::2], pieces[2::2], strict=True)
    return tuple(Message(role=_ROLES[who], content=said.strip()) for who, said in turns)


FORMAT = RecordFormat(
    name="hh_transcripts",
    marks="chosen or rejected transcripts that begin with Human:",
    fits=_fits,
    read=_read,
    noun="pair",
)
