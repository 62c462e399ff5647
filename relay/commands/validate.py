"""`relay validate`: what a run would say of a file, before it is dropped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from relay.commands.endings import FAILED
from relay.commands.invocation import Invocation
from relay.commands.voice import draw, give, talk

if TYPE_CHECKING:
    from contracts.pipeline import Pipeline
    from relay.console.pipeline_file import FileProblem
    from trajectories.learnable import Learnable
    from trajectories.verdict import Verdict


def validate(
    at: Invocation,
    file: Annotated[
        Path, typer.Argument(help="A file or a folder as it would be dropped.", exists=True)
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
    """Read a file in full, as `collect` does, or all files of a folder, and list what is wrong.

    Ends with 1 when a run could not learn from it.

    JSON: {ok, reason, remedy, format, evidence, records, usable, rejected, problems: [{line,
    field, problem, remedy, count}], problem_count, kind, why, training, held_out,
    demonstrations, labels: {good, bad, held_out}, reach: {metric, cases, fewest, enough, words} or
    null, judged, tokens, cut_share}: what it would train on, of the first `judged` records: pairs,
    episodes to imitate, labelled answers; on how many cases the gate would judge, and how many it
    needs; and tokens, estimated, with the share of records that the context cuts. Of a folder also
    {files: [{file, format, evidence, records, usable, rejected, problem_count}]}.
    """
    from contracts.pipeline import DataRules, Gate
    from relay.console.gate_reach import reach

    if file.exists() and not (file.is_file() or file.is_dir()):
        raise typer.BadParameter(f"{file} is neither a file nor a folder", param_hint="FILE")
    recipe = _recipe(at, pipeline)
    rules = recipe.learning_rules if recipe else DataRules()
    gate = recipe.gate if recipe else Gate()
    verdict = _judge(file)(
        rules=rules,
        plays=recipe.environment is not None if recipe else None,
        model=recipe.model if recipe else None,
        enough=partial(_require_enough, recipe) if recipe else None,
        reach=partial(reach, gate=gate, held_out_share=rules.held_out_share),
    )
    if at.json:
        give(verdict.model_dump(mode="json"))
    else:
        _draw(file, verdict)
    raise typer.Exit(0 if verdict.ok else FAILED)


def _judge(file: Path) -> Callable[..., Verdict]:
    from relay.console.folder_validating import validate_folder
    from trajectories.validating import validate as judge

    return partial(validate_folder, file) if file.is_dir() else partial(judge, file, name=str(file))


def _require_enough(recipe: Pipeline, made: Learnable) -> None:
    from training.episodes.artifact import Contents
    from training.phases.enough import require_enough

    require_enough(Contents.of(made), recipe)


def _recipe(at: Invocation, pipeline: str | None) -> Pipeline | None:
    from contracts import layout
    from contracts.pipeline import Pipeline
    from relay.console.pipeline_file import read_pipeline

    if pipeline is None:
        return None
    path = Path(pipeline)
    if path.is_file():
        found = read_pipeline(path.read_text(encoding="utf-8", errors="replace"))
        if isinstance(found, list):
            _refuse(at, path, found)
        return found
    body = at.plane.pipeline_bytes(pipeline)
    return Pipeline.from_bytes(body, where=layout.pipeline(pipeline))


def _refuse(at: Invocation, path: Path, found: list[FileProblem]) -> NoReturn:
    """Say what is wrong with the pipeline's file; the file of records was not looked at."""
    from contracts.errors import PipelineInvalid

    if not at.json:
        for problem in found:
            talk(f"{path}:{problem}")
        raise PipelineInvalid(f"{path} is no pipeline")
    give(
        {
            "ok": False,
            "reason": f"{path} is no pipeline",
            "remedy": f"mend the pipeline: `relay pipelines apply {path}` says the same",
            "pipeline_problems": [one.model_dump(mode="json") for one in found],
        }
    )
    raise typer.Exit(FAILED)


def _draw(file: Path, verdict: Verdict) -> None:
    from rich.table import Table
    from rich.text import Text

    mark = ("✓ ", "green") if verdict.ok else ("✗ ", "bold red")
    draw(Text.assemble(mark, (str(file), "bold"), f"  {verdict.reason}"))
    facts = Table.grid(padding=(0, 2))
    facts.add_row("  format", verdict.format or "none", Text(verdict.evidence, style="dim"))
    usable = f"{verdict.usable:,} of {verdict.records:,} usable"
    facts.add_row("  records", usable, Text(_size(verdict), "dim"))
    facts.add_row("  learns", _use(verdict), Text(verdict.why, "dim"))
    if verdict.reach and verdict.reach.words:
        facts.add_row("  gate", "little to judge by", Text(verdict.reach.words, "yellow"))
    draw(facts)
    if verdict.problems:
        from relay.console.problems_drawing import problems_table

        draw(problems_table(verdict.problems, verdict.problem_count))
    if not verdict.ok:
        draw(Text.assemble(("What to do: ", "bold"), verdict.remedy))


def _size(verdict: Verdict) -> str:
    from contracts.counting import counted

    said = f"about {counted(verdict.tokens, 'token')}"
    if verdict.cut_share is None:
        return said
    return f"{said}; the context cuts {verdict.cut_share:.0%} of the records"


def _use(verdict: Verdict) -> str:
    """What a step that may choose learns from; of a large file, what its first records give."""
    from contracts.counting import counted

    pairs = f"{counted(verdict.training, 'pair')} to learn from, {verdict.held_out:,} held out"
    said = pairs
    if verdict.kind == "labels":
        labels = verdict.labels
        said = f"{labels.good:,} good and {labels.bad:,} bad, {labels.held_out:,} of them held out"
    if verdict.demonstrations:
        said = f"{counted(verdict.demonstrations, 'episode')} and {said}"
    return said if verdict.judged >= verdict.usable else f"{said}, of the first {verdict.judged:,}"
