"""TRL's preference form: `prompt`, `chosen`, `rejected`, each text or a list of messages.

Without a `prompt`, lists of messages share it as their longest common beginning.
"""

from __future__ import annotations

from trajectories.formats import hh_transcripts
from trajectories.formats.record_format import Record, RecordFormat
from trajectories.leftovers import Extras
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.pairing import Fields, Sides, Turns, make_pair, part
from trajectories.refusal import refuse
from trajectories.text import clean_text
from trajectories.turns import read_answer, read_turns

_FIELDS = Fields("prompt", "chosen", "rejected")
_KNOWN = frozenset(_FIELDS)


def _fits(record: Record) -> bool:
    return (
        (_FIELDS.chosen in record or _FIELDS.rejected in record)
        and "conversations" not in record
        and not hh_transcripts.FORMAT.fits(record)
    )


def _read(record: Record) -> Pair:
    for field in (_FIELDS.chosen, _FIELDS.rejected):
        if record.get(field) is None:
            refuse(field, "is missing", "give prompt, chosen and rejected")
    extras: Extras = {}
    chosen = read_answer(record[_FIELDS.chosen], _FIELDS.chosen, extras)
    rejected = read_answer(record[_FIELDS.rejected], _FIELDS.rejected, extras)
    if record.get(_FIELDS.prompt) is None:
        sides = _implicit(record, chosen, rejected)
    else:
        prompt = read_prompt(record[_FIELDS.prompt], _FIELDS.prompt, extras)
        sides = _explicit(prompt, chosen, rejected)
    return make_pair(record, sides, _FIELDS, _KNOWN, extras)


def read_prompt(value: object, field: str, extras: Extras) -> tuple[Message, ...]:
    """Read a prompt: text is the user's.

    Raises:
        RecordRefused: something in it is not understood.
    """
    if isinstance(value, str):
        return (Message(role="user", content=clean_text(value, field)),)
    return read_turns(value, field, extras)


def _explicit(prompt: Turns, chosen: Turns, rejected: Turns) -> Sides:
    """Many files repeat the prompt at the start of both answers; it counts once."""
    size = len(prompt)
    if prompt and tuple(chosen[:size]) == tuple(rejected[:size]) == tuple(prompt):
        return Sides(prompt, chosen[size:], rejected[size:])
    return Sides(prompt, chosen, rejected)


def _implicit(record: Record, chosen: Turns, rejected: Turns) -> Sides:
    if isinstance(record[_FIELDS.chosen], str) or isinstance(record[_FIELDS.rejected], str):
        refuse(
            _FIELDS.prompt,
            "is missing, and the answers are plain text",
            "give prompt; only lists of messages can carry it within the answers",
        )
    return part(chosen, rejected, _FIELDS)


FORMAT = RecordFormat(
    name="trl_pairs",
    marks="chosen or rejected, without conversations",
    fits=_fits,
    read=_read,
    noun="pair",
)
