"""`relay validate`: what a run would say of a file, before it is dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.commands.endings import FAILED
from relay.commands.invocation import Invocation
from relay.commands.voice import draw, give, talk

if TYPE_CHECKING:
    from contracts.pipeline import Pipeline
    from trajectories.validating import Verdict


def validate(
    at: Invocation,
    file: Annotated[
        Path, typer.Argument(help="A file as it would be dropped.", exists=True, dir_okay=False)
    ],
    *,
    pipeline: Annotated[
        str | None,
        typer.Option(
            help="Whose rules: a pipeline's YAML file, or the name of a registered one. "
            "(default: every rule's default)",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Read a file in full, as `collect` does, and list what is wrong with it.

    Ends with 1 when a run could not learn from it.

    JSON: {ok, reason, remedy, format, evidence, records, usable, rejected, problems: [{line,
    field, problem, remedy}], problem_count, training, held_out, demonstrations}: pairs to learn
    from, pairs held out, and episodes to learn from.
    """
    from contracts.pipeline import DataRules
    from trajectories.validating import validate as judge

    recipe = _recipe(at, pipeline)
    verdict = judge(
        file,
        name=str(file),
        rules=recipe.data if recipe else DataRules(),
        plays=recipe.environment is not None if recipe else None,
    )
    if at.json:
        give(verdict.model_dump(mode="json"))
    else:
        _draw(file, verdict)
    raise typer.Exit(0 if verdict.ok else FAILED)


def _recipe(at: Invocation, pipeline: str | None) -> Pipeline | None:
    from contracts import layout
    from contracts.errors import PipelineInvalid
    from contracts.pipeline import Pipeline
    from relay.console.pipeline_file import read_pipeline

    if pipeline is None:
        return None
    path = Path(pipeline)
    if path.is_file():
        found = read_pipeline(path.read_text(encoding="utf-8", errors="replace"))
        if isinstance(found, list):
            for problem in found:
                talk(f"{path}:{problem}")
            raise PipelineInvalid(f"{path} is no pipeline")
        return found
    body = at.plane.pipeline_bytes(pipeline)
    return Pipeline.from_bytes(body, where=layout.pipeline(pipeline))


def _draw(file: Path, verdict: Verdict) -> None:
    from rich.table import Table
    from rich.text import Text

    mark = ("✓ ", "green") if verdict.ok else ("✗ ", "bold red")
    draw(Text.assemble(mark, (str(file), "bold"), f"  {verdict.reason}"))
    facts = Table.grid(padding=(0, 2))
    facts.add_row("  format", verdict.format or "none", Text(verdict.evidence, style="dim"))
    usable = f"{verdict.usable} of {verdict.records} usable"
    facts.add_row("  records", usable, Text(_use(verdict), "dim"))
    draw(facts)
    if verdict.problems:
        from relay.console.problems_drawing import problems_table

        draw(problems_table(verdict.problems, verdict.problem_count))
    if not verdict.ok:
        draw(Text.assemble(("What to do: ", "bold"), verdict.remedy))


def _use(verdict: Verdict) -> str:
    pairs = f"{verdict.training:,} pairs to learn from, {verdict.held_out:,} held out"
    if not verdict.demonstrations:
        return pairs
    return f"{verdict.demonstrations:,} episodes and {pairs}"
