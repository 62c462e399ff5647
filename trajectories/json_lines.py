"""One record a line, read as a stream in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from trajectories.quick_json import decode_quickly
from trajectories.records import Broken, Found, Item, item
from trajectories.strict_json import JsonFault, StrictDecoder

LINE_BYTES_MAX = 8 * 1024 * 1024
"""Longest line; a conversation of a million tokens is about half of it."""


def read_lines(file: BinaryIO) -> Iterator[Item]:
    """Read records from the file's position on; blank lines are skipped but numbered.

    Args:
        file: open for reading bytes, after any byte order mark.

    Yields:
        a record or a problem a line that is not blank, with its 1-based number.
    """
    decoder = StrictDecoder()
    number = 0
    while line := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(line) > LINE_BYTES_MAX and not line.endswith(b"\n"):
            _skip_line(file)
            yield Broken(
                number,
                f"is longer than {LINE_BYTES_MAX // 1024**2} MiB",
                "put one record on a line, each shorter than that",
            )
            continue
        if not line.strip(b" \t\r\n"):
            continue
        value = decode_quickly(line)
        if value is not None:
            yield Found(number, value, len(line))
        else:
            yield _record(decoder, number, line)


def _record(decoder: StrictDecoder, number: int, line: bytes) -> Item:
    try:
        return item(number, decoder.decode_line(line), len(line))
    except JsonFault as fault:
        return Broken(number, fault.problem, fault.remedy)


def _skip_line(file: BinaryIO) -> None:
    while chunk := file.readline(LINE_BYTES_MAX):
        if chunk.endswith(b"\n"):
            return
