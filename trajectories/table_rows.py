"""Rows of a Parquet file as records, a few at a time."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajectories.records import Broken, Found, Item, Note
from trajectories.refusal import shown

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
_Errors = tuple[type[Exception], ...]
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
    import pyarrow.parquet as pq

    unreadable = _unreadable()
    try:
        size = path.stat().st_size
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1024**2) as file:
            if twice := _twice(file.schema_arrow.names):
                yield Broken(0, f"has the column {shown(twice)} twice", "keep one of them")
                return
            yield from _groups(file, size, note, unreadable)
    except unreadable as error:
        yield Broken(0, *_words(error, 0, ""))


def _groups(
    file: pq.ParquetFile, size: int, note: Note | None, unreadable: _Errors
) -> Iterator[Item]:
    number, at_once = 0, _rows_at_once(file)
    for group in range(file.metadata.num_row_groups):
        try:
            for batch in file.iter_batches(at_once, row_groups=[group]):
                yield from _items(batch, number)
                number += batch.num_rows
                if note:
                    note(size * number // max(1, file.metadata.num_rows))
        except unreadable as error:
            encrypted = _is_encrypted(error)
            column = "" if encrypted else _unreadable_column(file, group, at_once, unreadable)
            yield Broken(0, *_words(error, number, column))
            return


def _unreadable() -> _Errors:
    import pyarrow as pa

    return (pa.ArrowException, OSError, NotImplementedError, LookupError, *_NO_VALUE)


def _twice(names: list[str]) -> str:
    (name, count), *_ = Counter(names).most_common(1) or [("", 0)]
    return name if count > 1 else ""


def _unreadable_column(file: pq.ParquetFile, group: int, at_once: int, unreadable: _Errors) -> str:
    """The first column of a row group that cannot be read alone either; empty if all can."""
    for name in file.schema_arrow.names:
        try:
            for _ in file.iter_batches(at_once, row_groups=[group], columns=[name]):
                pass
        except unreadable:
            return str(name)
    return ""


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
    values = {}
    for name, column in zip(row.schema.names, row.columns, strict=True):
        try:
            (values[name],) = column.to_pylist()
        except _NO_VALUE as error:
            words = f"holds a value that cannot be read: {_brief(error)}"
            return Broken(number, words, _AGAIN, field=name)
    return Found(number, _plain(values), _ROW_BYTES)


def _rows_at_once(file: pq.ParquetFile) -> int:
    """So few that even values as large as a whole row group stay within bounds, but for four.

    Nothing is asked of a group's columns: of encrypted ones that would end the process.
    """
    metadata = file.metadata
    groups = range(metadata.num_row_groups)
    largest = max((metadata.row_group(place).total_byte_size for place in groups), default=1)
    return max(ROWS_MIN, min(ROWS_MAX, HELD_BYTES // max(1, largest)))


def _is_encrypted(error: Exception) -> bool:
    said = str(error).lower()
    return "encrypt" in said or "decrypt" in said


def _words(error: Exception, rows: int, column: str) -> tuple[str, str]:
    if _is_encrypted(error):
        return "is an encrypted Parquet file", "write it without encryption"
    what = f"is Parquet whose column {shown(column)}" if column else "is Parquet that"
    after = f" after row {rows}" if rows else ""
    remedy = f"{_AGAIN}, or without that column" if column else _AGAIN
    return f"{what} cannot be read{after}: {_brief(error)}", remedy


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
    known = next((_PLAIN[base] for base in kind.__mro__ if base in _PLAIN), None)
    if known:
        return known(value)
    return value if value is None or kind in _JSON else str(value)


def _text_or_digest(value: bytes) -> str:
    """Writers differ in whether they call text text; what is none becomes a reference."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return f"sha256:{hashlib.sha256(value).hexdigest()}"


_JSON = {bool, int, float, str}
_PLAIN: dict[type, Callable[[Any], Any]] = {
    bytes: _text_or_digest,
    decimal.Decimal: str,
    dt.datetime: dt.datetime.isoformat,
    dt.date: dt.date.isoformat,
    dt.time: dt.time.isoformat,
    dt.timedelta: dt.timedelta.total_seconds,
}
