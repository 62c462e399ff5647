"""`relay runs`: the newest runs."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.invocation import Invocation
from relay.commands.voice import give, table, talk


def runs(
    at: Invocation,
    *,
    pipeline: Annotated[
        str | None, typer.Option(help="Only this pipeline's.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(help="Most of them.", min=1, max=1000)] = 20,
) -> None:
    """List runs, the newest first.

    JSON: [{run, pipeline, status, created_at, ended_at, reason, retry_of, drops, version, uri}].
    """
    from relay.console.durations import ago, clock, now
    from relay.console.run_drawing import STATUS_STYLE

    names = [pipeline] if pipeline else sorted(at.plane.pipelines_seen())
    found = [record for name in names for record in at.plane.runs_of(name, limit)]
    found = sorted(found, key=lambda record: record.run, reverse=True)[:limit]
    if pipeline and not found:
        at.plane.check_pipeline(pipeline)
    if at.json:
        give([record.model_dump(mode="json") for record in found])
        return
    if not found:
        talk(f"no run yet: `relay drop FILE --pipeline {pipeline or 'NAME'}` makes one")
        return
    from rich.text import Text

    rows = [
        (
            Text(one.run, style="cyan"),
            one.pipeline,
            Text(one.status, style=STATUS_STYLE[one.status]),
            ago(one.created_at, now()),
            clock(((one.ended_at or now()) - one.created_at).total_seconds()),
            str(one.drops),
            "" if one.version is None else f"v{one.version}",
        )
        for one in found
    ]
    columns = [("run", ""), ("pipeline", ""), ("status", ""), ("started", "right")]
    table([*columns, ("took", "right"), ("drops", "right"), ("policy", "right")], rows)
