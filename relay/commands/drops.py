"""`relay drops`: what waits, for its run or for its seal, and what was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.commands.invocation import Invocation
from relay.commands.voice import give, table, talk

if TYPE_CHECKING:
    from contracts.rejection import Rejection


def drops(
    at: Invocation,
    *,
    pipeline: Annotated[str, typer.Option(help="The pipeline.", show_default=False)],
    limit: Annotated[int, typer.Option(help="Most of each kind.", min=1)] = 50,
) -> None:
    """List a pipeline's waiting drops, folders without a seal, and reports on what was refused.

    JSON: {waiting: [drop of the ledger], unsealed: [{folder, files, bytes, arrived_at, reason,
    remedy}], rejected: [rejection report]}.
    """
    from relay.console.drops_reading import rejected, unsealed
    from relay.console.durations import ago, now

    waiting = at.plane.logic.ledger.drops.waiting(pipeline, limit=limit)
    open_ = unsealed(at.plane, pipeline, limit)
    refused = rejected(at.plane, pipeline, limit)
    if not (waiting or open_ or refused):
        at.plane.check_pipeline(pipeline)
    if at.json:
        give(
            {
                "waiting": [one.model_dump(mode="json") for one in waiting],
                "unsealed": [one.model_dump(mode="json") for one in open_],
                "rejected": [one.model_dump(mode="json") for one in refused],
            }
        )
        return
    if not waiting and not open_ and not refused:
        talk("nothing waits, nothing was refused")
    if waiting:
        rows = [
            (one.key, f"{one.objects or 1:,}", f"{one.size:,}", ago(one.accepted_at, now()))
            for one in waiting
        ]
        heads = [("waiting", "folds"), ("files", "right"), ("bytes", "right"), ("accepted", "")]
        table(heads, rows)
    if open_:
        lines = [(one.reason, one.remedy, ago(one.arrived_at, now())) for one in open_]
        table([("without a seal", "folds"), ("what to do", "folds"), ("newest file", "")], lines)
    if refused:
        said = [(one.key, one.refused_by, *_first(one), ago(one.at, now())) for one in refused]
        heads = [("refused", "folds"), ("by", ""), ("reason", "folds"), ("what to do", "folds")]
        table([*heads, ("when", "")], said)
        if any(one.problem_count > 1 for one in refused):
            talk("`-o json` has every problem, with its line")


def _first(report: Rejection) -> tuple[str, str]:
    """Why, and what to do: of the first record that was bad, where a file was read."""
    if not report.problems:
        return report.reason, report.remedy
    first = next((one for one in report.problems if one.line), report.problems[-1])
    where = f"line {first.line}, {first.field}: " if first.line else ""
    return f"{report.reason}; {where}{first.problem}", first.remedy
