"""What is wrong with a file's records, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from contracts.rejection import Rejection
from contracts.result import Problem


def problems_table(problems: Sequence[Problem], count: int) -> RenderableType:
    """The problems, each with how many are like it, and how many more there are."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column("line", justify="right")
    for name in ("field", "problem", "what to do"):
        table.add_column(name)
    for one in problems:
        line = str(one.line) if one.line else "file"
        like_it = f" (and {one.count - 1:,} more like it)" if one.count > 1 else ""
        table.add_row(line, one.field, one.problem + like_it, Text(one.remedy, style="dim"))
    more = count - sum(one.count for one in problems)
    return Group(table, Text(f"and {more} more", style="dim")) if more > 0 else table


def draw_rejection(report: Rejection) -> RenderableType:
    """A report on a refused object, or on records that were not usable."""
    said = Text.assemble(
        ("refused by ", "red"), (report.refused_by, "red"), f": {report.reason}\n",
        ("What to do: ", "bold"), report.remedy,
    )  # fmt: skip
    if not report.problems:
        return said
    return Group(said, problems_table(report.problems, report.problem_count))
