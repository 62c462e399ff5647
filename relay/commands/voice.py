"""How a command speaks: data on stdout, talk on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_WIDTH = 120


def talk(text: str) -> None:
    """Say something to whoever looks on."""
    listening().print(text, markup=False, highlight=False, soft_wrap=True)


def listening() -> Console:
    """The console of stderr."""
    from rich.console import Console

    return Console(stderr=True, width=_width(sys.stderr), markup=False, emoji=False)


def give(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Print data as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def draw(picture: RenderableType) -> None:
    """Print data as a picture; what must stay in one piece, such as an address, may stick out.

    A string is text and nothing else, here and within the picture: `[red]` in it is shown.
    """
    from rich.console import Console

    console = Console(width=_width(sys.stdout), markup=False, emoji=False)
    console.print(picture, crop=False)


def _width(stream: TextIO) -> int | None:
    """The terminal's own width; elsewhere wide enough for most lines."""
    return None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH


def table(columns: Iterable[tuple[str, str]], rows: Iterable[Iterable[RenderableType]]) -> None:
    """Print data as a table; a column is its name and how it is justified."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for name, justify in columns:
        made.add_column(name, justify="right" if justify == "right" else "left")
    for row in rows:
        made.add_row(*row)
    draw(made)
