"""Canonical records as rows of a shard, and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from contracts.model import canonical_json
from trajectories.canonical import canonical
from trajectories.message import Message, plain
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
"""Texts, a reward, a label; what a record's kind has no use for is left out."""
_TURNS = ("prompt", "chosen", "rejected", "messages")
_messages = TypeAdapter(tuple[Message, ...])


def row_of(record: Pair | Trajectory) -> Row:
    """A record as a row: its turns and metadata are JSON text."""
    row: Row = {
        "id": record.id,
        "task": record.task,
        "tools": record.tools,
        "metadata": canonical_json(record.metadata).decode(),
    }
    if isinstance(record, Pair):
        sides = {"prompt": record.prompt, "chosen": record.chosen, "rejected": record.rejected}
        return (
            row
            | {"kind": "pair"}
            | {name: canonical(plain(side)).decode() for name, side in sides.items()}
        )
    return row | {
        "kind": "trajectory",
        "trial": record.trial,
        "reward": record.reward,
        "label": record.label,
        "messages": canonical(plain(record.messages)).decode(),
    }


def record_of(row: Row) -> Pair | Trajectory:
    """The record of a row; whether its id is that of its content is not looked at.

    Raises:
        KeyError, TypeError, ValueError: it is no such row.
    """
    turns = {name: _messages.validate_json(row[name]) for name in _TURNS if row.get(name)}
    known = {name: row[name] for name in ("id", "task", "tools")} | turns
    known["metadata"] = json.loads(row["metadata"])
    if row["kind"] == "pair":
        return Pair.model_validate(known)
    judged = {name: row[name] for name in ("trial", "reward", "label")}
    return Trajectory.model_validate(known | judged)


def size_of(row: Row) -> int:
    """Characters of its texts."""
    return sum(len(value) for value in row.values() if isinstance(value, str))


def schema() -> pa.Schema:
    """Columns of a shard."""
    import pyarrow as pa

    text = pa.string()
    kinds = {"reward": pa.float64(), "label": pa.bool_()}
    names = ("id", "kind", "task", "trial", "reward", "label", *_TURNS, "tools", "metadata")
    return pa.schema([(name, kinds.get(name, text)) for name in names])
