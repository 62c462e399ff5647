"""Canonical records as Parquet shards: what phases hand on, and what other tools can read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from contracts.errors import ContractBroken
from contracts.model import canonical_json, describe
from trajectories.canonical import canonical
from trajectories.message import Message, plain
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SHARD_ROWS_MAX = 100_000
SHARD_BYTES_MAX = 256 * 1024**2
"""A shard's text before compression; the next record opens another."""
GROUP_ROWS_MAX = 2_000
GROUP_BYTES_MAX = 16 * 1024**2
"""A row group's text before compression: what writing and reading hold in memory."""

_TURNS = ("prompt", "chosen", "rejected", "messages")
_messages = TypeAdapter(tuple[Message, ...])
_Row = dict[str, Any]


def write_shards(folder: Path, name: str, records: Iterable[Pair | Trajectory]) -> int:
    """Write records as `<name>-00000.parquet` and so on, at least one shard.

    Columns: id, kind (pair or trajectory), task, trial, reward, label, and as JSON text prompt,
    chosen, rejected, messages, tools, metadata; null where a kind has no use for one.

    Args:
        folder: an existing one.
        name: of the set, such as `train`.
        records: in the order in which they are to be read; held a row group at a time.

    Returns:
        How many were written.

    Raises:
        OSError: the disk refuses.
    """
    import pyarrow.parquet as pq

    waiting = iter(records)
    schema = _schema()
    written = number = 0
    first: Pair | Trajectory | None = next(waiting, None)
    while first is not None or not number:
        remaining = iter(()) if first is None else chain((first,), waiting)
        with pq.ParquetWriter(
            folder / f"{name}-{number:05d}.parquet", schema, compression="zstd"
        ) as writer:
            written += _write_shard(writer, schema, remaining)
        number += 1
        first = next(waiting, None)
    return written


def read_shards(folder: Path, name: str) -> Iterator[Pair | Trajectory]:
    """Read what `write_shards` wrote, in its order.

    Raises:
        ContractBroken: no shard of that name, one that is no such Parquet file, or a record
            whose id is not that of its content.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = sorted(folder.glob(f"{name}-[0-9][0-9][0-9][0-9][0-9].parquet"))
    if not paths:
        raise ContractBroken(f"{folder}: no shard of {name}")
    for path in paths:
        try:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                yield from _read_shard(file, path)
        except (pa.ArrowException, OSError) as error:
            raise ContractBroken(f"{path}: is not a shard that can be read: {error}") from error


def _write_shard(
    writer: pq.ParquetWriter, schema: pa.Schema, records: Iterator[Pair | Trajectory]
) -> int:
    import pyarrow as pa

    rows: list[_Row] = []
    written = held = total = 0
    for record in records:
        rows.append(_row(record))
        size = _size(rows[-1])
        held, total, written = held + size, total + size, written + 1
        full = written == SHARD_ROWS_MAX or total >= SHARD_BYTES_MAX
        if full or len(rows) == GROUP_ROWS_MAX or held >= GROUP_BYTES_MAX:
            writer.write_table(pa.Table.from_pylist(rows, schema))
            rows, held = [], 0
        if full:
            break
    if rows:
        writer.write_table(pa.Table.from_pylist(rows, schema))
    return written


def _read_shard(file: pq.ParquetFile, path: Path) -> Iterator[Pair | Trajectory]:
    number = 0
    for batch in file.iter_batches(batch_size=256):
        for row in batch.to_pylist():
            number += 1
            yield _record(row, f"{path}: row {number}")


def _row(record: Pair | Trajectory) -> _Row:
    row: _Row = {
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


def _record(row: _Row, where: str) -> Pair | Trajectory:
    try:
        made = _made(row)
    except (KeyError, TypeError, ValueError) as error:
        words = describe(error) if isinstance(error, ValidationError) else repr(error)
        raise ContractBroken(f"{where}: {words}") from error
    if not made.is_intact:
        raise ContractBroken(f"{where}: the record's id is not the digest of its content")
    return made


def _made(row: _Row) -> Pair | Trajectory:
    turns = {name: _messages.validate_json(row[name]) for name in _TURNS if row[name] is not None}
    known = {name: row[name] for name in ("id", "task", "tools")} | turns
    known["metadata"] = json.loads(row["metadata"])
    if row["kind"] == "pair":
        return Pair.model_validate(known)
    judged = {name: row[name] for name in ("trial", "reward", "label")}
    return Trajectory.model_validate(known | judged)


def _size(row: _Row) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, str))


def _schema() -> pa.Schema:
    import pyarrow as pa

    text = pa.string()
    kinds = {"reward": pa.float64(), "label": pa.bool_()}
    names = ("id", "kind", "task", "trial", "reward", "label", *_TURNS, "tools", "metadata")
    return pa.schema([(name, kinds.get(name, text)) for name in names])
