"""Rows of a Parquet file as records, a few at a time."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajectories.records import Broken, Found, Item

if TYPE_CHECKING:
    import pyarrow.parquet as pq

HELD_BYTES = 64 * 1024**2
"""Of rows decoded at a time; a value is at most as large as its column is in a row group."""
ROWS_MAX = 256
_AGAIN = "write it again with a Parquet library"


def read_rows(path: Path) -> Iterator[Item]:
    """Read a Parquet file's rows, row group by row group.

    Null is taken as not there, as Parquet gives every record the fields of all.

    Yields:
        a record a row, with its 1-based number; a problem of the file, 0, where it ends early.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1024**2) as file:
            for batch in file.iter_batches(batch_size=_rows_at_once(file)):
                for row in batch.to_pylist():
                    number += 1
                    yield Found(number, _plain(row), HELD_BYTES // ROWS_MAX)
    except (pa.ArrowException, OSError, NotImplementedError) as error:
        yield Broken(0, *_words(error, number))


def _rows_at_once(file: pq.ParquetFile) -> int:
    """So few that even the largest values a column can hold stay within bounds."""
    metadata = file.metadata
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    largest = max(
        (
            group.column(place).total_uncompressed_size
            for group in groups
            for place in range(group.num_columns)
        ),
        default=1,
    )
    return max(1, min(ROWS_MAX, HELD_BYTES // max(1, largest)))


def _words(error: Exception, rows: int) -> tuple[str, str]:
    detail = " ".join(str(error).split())[:200]
    if "encrypt" in detail.lower() or "decrypt" in detail.lower():
        return "is an encrypted Parquet file", "write it without encryption"
    if rows:
        return f"is Parquet that cannot be read after row {rows}: {detail}", _AGAIN
    return f"is Parquet that cannot be read: {detail}", _AGAIN


def _plain(value: Any) -> Any:  # noqa: ANN401 - any of Arrow's values
    kind = type(value)
    if kind is dict:
        return {name: _plain(one) for name, one in value.items() if one is not None}
    if kind is list:
        if value and all(type(one) is tuple for one in value):
            return {str(name): _plain(one) for name, one in value}
        return [_plain(one) for one in value]
    known = _PLAIN.get(kind)
    return known(value) if known else value


def _text_or_digest(value: bytes) -> str:
    """Writers differ in whether they call text text; what is none becomes a reference."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return f"sha256:{hashlib.sha256(value).hexdigest()}"


_PLAIN: dict[type, Callable[[Any], Any]] = {
    bytes: _text_or_digest,
    decimal.Decimal: str,
    dt.datetime: dt.datetime.isoformat,
    dt.date: dt.date.isoformat,
    dt.time: dt.time.isoformat,
    dt.timedelta: dt.timedelta.total_seconds,
}
