"""`relay policies`: a pipeline's published versions, and fetching one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.commands.invocation import Invocation
from relay.commands.pipelines import Name
from relay.commands.voice import draw, give, table, talk

if TYPE_CHECKING:
    from contracts.policy import PolicyVersion

_TITLES = {
    "success_rate": "success",
    "accuracy": "accuracy",
    "label_accuracy": "label accuracy",
    "likelihood": "likelihood",
}
"""Metrics that a policy is judged by, and the heading of their column."""


def policies(
    at: Invocation,
    name: Name,
    *,
    download: Annotated[
        tuple[str, Path] | None,
        typer.Option(
            metavar="VERSION FOLDER",
            help="Fetch a version (a number, or current) into a new folder.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List a pipeline's policy versions, or fetch one as a folder that `from_pretrained` loads.

    JSON: [{pipeline, version, policy: {kind, uri, manifest}, run, parent, pipeline_version,
    drops, plan_key, metrics, created_at, current}]; with --download that one, and {folder,
    bytes}.
    """
    from relay.console.errors import NotFound

    versions = at.plane.logic.ledger.policies.all(name)
    if not versions:
        at.plane.pipeline_bytes(name)
    current = at.plane.logic.ledger.pipelines.get(name).current_version
    if download is None:
        _list(at, versions, current)
        return
    wanted, folder = download
    number = str(current) if wanted == "current" else wanted.removeprefix("v")
    chosen = [one for one in versions if str(one.version) == number]
    if not chosen:
        raise NotFound(
            f"pipeline {name} has no policy version {wanted}; `relay policies {name}` lists "
            "those there are"
        )
    _fetch(at, chosen[0], folder, current)


def _list(at: Invocation, versions: list[PolicyVersion], current: int | None) -> None:
    from relay.console.durations import moment
    from relay.console.figures import figure

    if at.json:
        give([_json(one, current) for one in versions])
        return
    if not versions:
        talk("no policy was published yet")
        return
    metric = _metric(versions)
    name = f"end_{metric}"
    rows = [
        (
            f"v{one.version}" + (" (current)" if one.version == current else ""),
            moment(one.created_at),
            figure(name, one.metrics[name]) if name in one.metrics else "",
            one.run,
            one.policy.uri,
        )
        for one in reversed(versions)
    ]
    columns = [
        ("version", ""),
        ("published", ""),
        (_TITLES[metric], "right"),
        ("run", ""),
    ]
    table([*columns, ("place", "")], rows)


def _metric(versions: list[PolicyVersion]) -> str:
    """What to show of all versions: the first metric that one of them was judged by."""
    judged = {
        metric
        for one in versions
        for metric in _TITLES
        if f"end_{metric}" in one.metrics and f"{metric}_gain" not in one.metrics
    }
    return next((metric for metric in _TITLES if metric in judged), "accuracy")


def _fetch(at: Invocation, version: PolicyVersion, folder: Path, current: int | None) -> None:
    from contracts.counting import counted
    from relay.console.policy_download import download

    size = download(at.plane, version, folder)
    if at.json:
        give({**_json(version, current), "folder": str(folder), "bytes": size})
    else:
        draw(f"version {version.version} is in {folder} ({counted(size, 'byte')})")


def _json(version: PolicyVersion, current: int | None) -> dict[str, object]:
    return {**version.model_dump(mode="json"), "current": version.version == current}
