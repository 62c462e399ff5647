"""The tables of `docs/costs.md`, from the counts; `python tests/costs/page.py` writes them anew."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

# Read by Powertools when it is imported.
os.environ.setdefault("POWERTOOLS_LOG_LEVEL", "CRITICAL")

from counting import KINDS, Counts  # noqa: E402
from measured import measured  # noqa: E402
from prices import DAYS, PRICES, USES, costs, requests  # noqa: E402

PAGE = ROOT / "docs" / "costs.md"


def tables(found: Mapping[str, Counts]) -> dict[str, str]:
    """By its name: each table, as Markdown."""
    return {
        "counts": _counts(found),
        "requests": _requests(found),
        "money": _money(found),
        "prices": _table(
            ("unit", "dollars"),
            [(unit, f"{price:.10f}".rstrip("0")) for unit, price in PRICES.items()],
        ),
    }


def _counts(found: Mapping[str, Counts]) -> str:
    rows = [(what, *(str(counts[kind]) for kind in KINDS)) for what, counts in found.items()]
    return _table(("happening", *KINDS), rows)


def _requests(found: Mapping[str, Counts]) -> str:
    months = [requests(use, found) for use in USES]
    rows = [(kind, *(f"{month[kind]:,}" for month in months)) for kind in KINDS]
    return _table(("a month", *(_named(use.drops_a_day) for use in USES)), rows)


def _money(found: Mapping[str, Counts]) -> str:
    months = [costs(use, found) for use in USES]
    rows = [(what, *(f"{month[what]:,.2f}" for month in months)) for what in months[0]]
    totals = [sum(month.values()) for month in months]
    runs = [total / use.runs_a_day / DAYS for total, use in zip(totals, USES, strict=True)]
    rows.append(("**together**", *(f"**{total:,.2f}**" for total in totals)))
    rows.append(("a run", *(f"{run:,.3f}" for run in runs)))
    return _table(("dollars a month", *(_named(use.drops_a_day) for use in USES)), rows)


def _named(drops: int) -> str:
    return f"{drops:,} drops a day"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *(["---:"] * (len(head) - 1))], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def filled(text: str, found: Mapping[str, Counts]) -> str:
    """The page with each table between its marks replaced."""
    for name, table in tables(found).items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}{table}{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(), measured()))
