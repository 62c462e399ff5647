"""Rows of a Parquet file as records, a few at a time."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajectories.records import Broken, Found, Item, Note

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

HELD_BYTES = 256 * 1024**2
"""Of rows decoded at a time; a value is at most as large as its row group, before compression."""
ROWS_MIN, ROWS_MAX = 4, 256
_ROW_BYTES = 128 * 1024
"""What a row is counted as where records are held to detect their format."""
_NO_VALUE = (ValueError, OverflowError)
"""Text that is not UTF-8, and times that Python has none for; Arrow's own errors among them."""
_AGAIN = "write it again with a Parquet library"


def read_rows(path: Path, note: Note | None = None) -> Iterator[Item]:
    """Read a Parquet file's rows, row group by row group.

    Null is taken as not there, as Parquet gives every record the fields of all.

    Args:
        path: the file.
        note: is told after some rows how many bytes of the file they are, about.

    Yields:
        a record a row, with its 1-based number; a problem of the file, 0, where it ends early.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        size = path.stat().st_size
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1024**2) as file:
            for batch in file.iter_batches(batch_size=_rows_at_once(file)):
                yield from _items(batch, number)
                number += batch.num_rows
                if note:
                    note(size * number // max(1, file.metadata.num_rows))
    except (pa.ArrowException, OSError, NotImplementedError, LookupError, *_NO_VALUE) as error:
        yield Broken(0, *_words(error, number))


def _items(batch: pa.RecordBatch, before: int) -> Iterator[Item]:
    """Rows together, or one by one where a value in one of them cannot be had."""
    try:
        rows = batch.to_pylist()
    except _NO_VALUE:
        for place in range(batch.num_rows):
            yield _item(batch.slice(place, 1), before + place + 1)
        return
    for number, row in enumerate(rows, before + 1):
        yield Found(number, _plain(row), _ROW_BYTES)


def _item(row: pa.RecordBatch, number: int) -> Item:
    try:
        return Found(number, _plain(row.to_pylist()[0]), _ROW_BYTES)
    except _NO_VALUE as error:
        return Broken(number, f"holds a value that cannot be read: {_brief(error)}", _AGAIN)


def _rows_at_once(file: pq.ParquetFile) -> int:
    """So few that even values as large as a whole row group stay within bounds, but for four.

    Nothing is asked of a group's columns: of encrypted ones that would end the process.
    """
    metadata = file.metadata
    groups = range(metadata.num_row_groups)
    largest = max((metadata.row_group(place).total_byte_size for place in groups), default=1)
    return max(ROWS_MIN, min(ROWS_MAX, HELD_BYTES // max(1, largest)))


def _words(error: Exception, rows: int) -> tuple[str, str]:
    detail = _brief(error)
    if "encrypt" in detail.lower() or "decrypt" in detail.lower():
        return "is an encrypted Parquet file", "write it without encryption"
    if rows:
        return f"is Parquet that cannot be read after row {rows}: {detail}", _AGAIN
    return f"is Parquet that cannot be read: {detail}", _AGAIN


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


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
