"""OpenAI's chat fine-tuning form, which most others take after.

`{"messages": [{role, content, tool_calls, …}, …]}`, with optional `tools` and `label`.
"""

from __future__ import annotations

from trajectories.conversations import conversation, label_of, system_of
from trajectories.formats import nova
from trajectories.formats.record_format import Record, RecordFormat
from trajectories.leftovers import Extras
from trajectories.trajectory import Trajectory
from trajectories.turns import read_turns

_FIELD = "messages"
_KNOWN = frozenset({_FIELD, "system", "label"})
_OTHERS = frozenset({"reward", "reference_answer", "chosen", "rejected", "traj", "conversations"})
"""Fields that make a record one of another format."""


def _fits(record: Record) -> bool:
    return _FIELD in record and _OTHERS.isdisjoint(record) and not nova.is_nova(record)


def _read(record: Record) -> Trajectory:
    extras: Extras = {}
    turns = read_turns(record.get(_FIELD), _FIELD, extras)
    if "system" in record:
        turns = system_of(record) + turns
    return conversation(record, turns, _FIELD, _KNOWN, extras, label=label_of(record))


FORMAT = RecordFormat(
    name="openai_chat",
    marks="messages, without a reward",
    fits=_fits,
    read=_read,
)
