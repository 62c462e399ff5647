"""ShareGPT's conversations.

`{"conversations": [{from, value}, …]}`, with an optional `system` text, `tools` and `label`.
"""

from __future__ import annotations

from trajectories.conversations import conversation, label_of, system_of
from trajectories.formats.record_format import Record, RecordFormat
from trajectories.leftovers import Extras
from trajectories.numbers import read_number
from trajectories.trajectory import Trajectory
from trajectories.turns import read_turns

_FIELD = "conversations"
_KNOWN = frozenset({_FIELD, "system", "label", "reward"})


def _fits(record: Record) -> bool:
    return _FIELD in record and "chosen" not in record and "rejected" not in record


def _read(record: Record) -> Trajectory:
    extras: Extras = {}
    turns = system_of(record) + read_turns(record.get(_FIELD), _FIELD, extras)
    return conversation(
        record,
        turns,
        _FIELD,
        _KNOWN,
        extras,
        reward=read_number(record.get("reward"), "reward"),
        label=label_of(record),
    )


FORMAT = RecordFormat(
    name="sharegpt",
    marks="conversations, without chosen and rejected",
    fits=_fits,
    read=_read,
)
