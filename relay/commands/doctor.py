"""`relay doctor`: whether an account has what Relay needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from relay.commands.invocation import Invocation
from relay.commands.voice import draw, give, talk

if TYPE_CHECKING:
    from rich.console import RenderableType

    from relay.doctor.finding import Finding

_STYLES = {"ok": "green", "wrong": "bold red", "unknown": "yellow"}


def doctor(at: Invocation) -> None:
    """Look at every prerequisite of a stack; nothing is changed. Ends with 1 if one is wrong.

    JSON: {stack, healthy, findings: [{name, verdict: ok|wrong|unknown, seen, remedy}]}.
    """
    from relay.doctor.arriving import arrive
    from relay.doctor.finding import healthy

    examination = arrive(at.wish, talk)
    found = []
    for one in examination.findings():
        found.append(one)
        if not at.json:
            draw(_line(one))
    well = healthy(found)
    if at.json:
        give(
            {
                "stack": examination.stack,
                "healthy": well,
                "findings": [one.json() for one in found],
            }
        )
    talk(_sum(found))
    if not well:
        raise typer.Exit(1)


def _line(one: Finding) -> RenderableType:
    from rich.text import Text

    line = Text.assemble((f"{one.verdict:8}", _STYLES[one.verdict]), f"{one.name}: {one.seen}")
    if one.remedy:
        line.append(f"\n{'':8}→ {one.remedy}", style="dim" if one.verdict == "unknown" else "")
    return line


def _sum(found: list[Finding]) -> str:
    counts = [(v, sum(one.verdict == v for one in found)) for v in ("ok", "wrong", "unknown")]
    return ", ".join(f"{count} {verdict}" for verdict, count in counts)
