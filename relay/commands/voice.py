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
_ENDLESS = 10_000


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

    A string is text and nothing else, here and within the picture: `[red]` in it is shown. Its
    lines are the terminal's to fold, so that they can be copied.
    """
    from rich.console import Console
    from rich.table import Table

    console = Console(width=_width(sys.stdout), markup=False, emoji=False)
    endless = console.options.update(width=_ENDLESS)
    if isinstance(picture, Table):
        # One wider than the terminal is left for it to fold, so that no id is cut short.
        console.width = max(console.width, console.measure(picture, options=endless).minimum)
    console.print(picture, crop=False, soft_wrap=isinstance(picture, str))


def _width(stream: TextIO) -> int | None:
    """The terminal's own width; elsewhere wide enough for most lines."""
    return None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH


def table(columns: Iterable[tuple[str, str]], rows: Iterable[Iterable[RenderableType]]) -> None:
    """Print data as a table; a column is its name, and `right`, `folds` (free text) or nothing."""
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    listed = [list(row) for row in rows]
    for place, (name, justify) in enumerate(columns):
        # Free text may be folded; an id, an address or a figure stays in one piece.
        whole = max((cell_len(str(row[place])) for row in listed), default=0)
        made.add_column(
            name,
            justify="right" if justify == "right" else "left",
            no_wrap=justify != "folds",
            min_width=None if justify == "folds" else whole,
        )
    for row in listed:
        made.add_row(*row)
    draw(made)
