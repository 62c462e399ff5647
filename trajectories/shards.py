"""Canonical records as Parquet shards: what phases hand on, and what other tools can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pydantic import ValidationError

from contracts.errors import ContractBroken
from contracts.model import describe
from trajectories.pair import Pair
from trajectories.shard_rows import Row, record_of, row_of, schema, size_of
from trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    import pyarrow.parquet as pq

SHARD_ROWS_MAX = 100_000
SHARD_BYTES_MAX = 256 * 1024**2
"""A shard's text before compression; the next record opens another."""
GROUP_ROWS_MAX = 2_000
GROUP_BYTES_MAX = 16 * 1024**2
"""A row group's text before compression: what writing and reading hold in memory."""


class ShardWriter:
    """Writes rows as `<name>-00000.parquet` and so on, at least one shard.

    Columns: id, kind (pair or trajectory), task, trial, reward, label, and as JSON text prompt,
    chosen, rejected, messages, tools, metadata; null where a kind has no use for one.

    Attributes:
        written: rows so far, in the order in which they are to be read.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Prepare to write.

        Args:
            folder: an existing one.
            name: of the set, such as `train`.
        """
        self.written = 0
        self._folder = folder
        self._name = name
        self._schema = schema()
        self._shards = 0
        self._writer: pq.ParquetWriter | None = None
        self._rows: list[Row] = []
        self._held = 0
        self._shard_rows = self._shard_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if kind is None and not self._shards:
            self._open()
        self._close()

    def add(self, row: Row) -> None:
        """Write a row, held in memory with those of its row group until that is full.

        Raises:
            OSError: the disk refuses.
        """
        if self._writer is None:
            self._open()
        self._rows.append(row)
        size = size_of(row)
        self.written += 1
        self._held += size
        self._shard_rows += 1
        self._shard_bytes += size
        full = self._shard_rows == SHARD_ROWS_MAX or self._shard_bytes >= SHARD_BYTES_MAX
        if len(self._rows) == GROUP_ROWS_MAX or self._held >= GROUP_BYTES_MAX:
            self._write_group()
        if full:
            self._close()

    def _open(self) -> None:
        import pyarrow.parquet as pq

        path = self._folder / f"{self._name}-{self._shards:05d}.parquet"
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._shards += 1
        self._shard_rows = self._shard_bytes = 0

    def _write_group(self) -> None:
        import pyarrow as pa

        if self._rows and self._writer is not None:
            self._writer.write_table(pa.Table.from_pylist(self._rows, self._schema))
        self._rows, self._held = [], 0

    def _close(self) -> None:
        self._write_group()
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def write_shards(folder: Path, name: str, records: Iterable[Pair | Trajectory]) -> int:
    """Write records as shards; see `ShardWriter`.

    Returns:
        How many were written.

    Raises:
        OSError: the disk refuses.
    """
    with ShardWriter(folder, name) as writer:
        for record in records:
            writer.add(row_of(record))
    return writer.written


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


def _read_shard(file: pq.ParquetFile, path: Path) -> Iterator[Pair | Trajectory]:
    number = 0
    for batch in file.iter_batches(batch_size=256):
        for row in batch.to_pylist():
            number += 1
            yield _record(row, f"{path}: row {number}")


def _record(row: Row, where: str) -> Pair | Trajectory:
    try:
        made = record_of(row)
    except (KeyError, TypeError, ValueError) as error:
        words = describe(error) if isinstance(error, ValidationError) else repr(error)
        raise ContractBroken(f"{where}: {words}") from error
    if not made.is_intact:
        raise ContractBroken(f"{where}: the record's id is not the digest of its content")
    return made
