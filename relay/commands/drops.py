"""`relay drops`: what waits, for its run or for its seal, and what was refused."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.invocation import Invocation
from relay.commands.voice import give, table, talk


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
        said = [(one.key, one.refused_by, one.reason, ago(one.at, now())) for one in refused]
        table([("refused", "folds"), ("by", ""), ("reason", "folds"), ("when", "")], said)
