"""From a file to the records it holds, whatever holds them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trajectories.container import ENCRYPTED_PARQUET, PARQUET, Container, look
from trajectories.content import Wrapping, open_content, wrapping_of
from trajectories.json_lines import read_lines
from trajectories.json_values import read_values
from trajectories.records import Broken, Item, Note
from trajectories.suffixes import remark
from trajectories.table_rows import read_rows
from trajectories.unpacking import BOUNDS, Bounds

_DECRYPT = "write it without encryption"


class Opened(NamedTuple):
    """A file that was looked at.

    Attributes:
        container: how it holds its records.
        words: the same for the evidence, with what is around them.
        wrapping: what is around them.
    """

    container: Container
    words: str
    wrapping: Wrapping


def open_file(path: Path, name: str, bounds: Bounds = BOUNDS) -> Opened:
    """Look at a file's beginning.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(4)
    if head == ENCRYPTED_PARQUET:
        container = Container("neither", "is an encrypted Parquet file", _DECRYPT)
        return Opened(container, container.words, Wrapping())
    if head == PARQUET:
        return _opened(name, Container("table", "a Parquet file"), Wrapping())
    wrapping = wrapping_of(path, bounds)
    with open_content(path, wrapping, bounds) as content:
        container = look(content.file)
        fault = content.fault
    if fault and container.kind == "neither":
        container = Container("neither", *fault)
    return _opened(name, container, wrapping._replace(bare_returns=container.bare_returns))


def read_items(
    path: Path, opened: Opened, bounds: Bounds = BOUNDS, note: Note | None = None
) -> Iterator[Item]:
    """Read the records of a file that was looked at, and why they end early if they do.

    Args:
        path: the file.
        opened: what was seen.
        bounds: how far it may unpack.
        note: is told after each record how many bytes of the file have been read.

    Raises:
        OSError: the file cannot be read.
    """
    kind = opened.container.kind
    if kind == "table":
        yield from read_rows(path, note)
    elif kind != "neither":
        with open_content(path, opened.wrapping, bounds) as content:
            for item in (read_lines if kind == "lines" else read_values)(content.file):
                if note:
                    note(content.position)
                yield item
            if content.fault:
                yield Broken(0, *content.fault)


def _opened(name: str, container: Container, wrapping: Wrapping) -> Opened:
    if container.kind == "neither":
        return Opened(container, container.words, wrapping)
    said = remark(name, wrapping.packing, container.kind)
    words = ", ".join(part for part in (container.words, wrapping.words, said) if part)
    return Opened(container, words, wrapping)
