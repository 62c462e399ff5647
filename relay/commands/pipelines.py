"""`relay pipelines`: register recipes, look at them, let a paused one go on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.commands.endings import FAILED
from relay.commands.invocation import Invocation, command
from relay.commands.voice import draw, give, table, talk

if TYPE_CHECKING:
    from contracts.pipeline import Pipeline
    from relay.console.pipeline_file import FileProblem

app = typer.Typer(no_args_is_help=True, help="Register recipes and look at them.")

Name = Annotated[str, typer.Argument(help="The pipeline's name.", show_default=False)]


def apply(
    at: Invocation,
    file: Annotated[Path, typer.Argument(help="The pipeline's YAML.", exists=True, dir_okay=False)],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
) -> None:
    """Register a pipeline from a YAML file.

    A faulty file is refused with the line of every problem. The recipe counts from the next
    run on; a paused pipeline stays paused.

    JSON: {name, outcome: registered|updated|unchanged, dry_run, version, changes: [{field,
    before, after}]}; of a faulty file {name: null, outcome: refused, problems: [{line, column,
    field, problem}]}.
    """
    from relay.console.registering import apply as register

    found = _read(file)
    if isinstance(found, list):
        for problem in found:
            talk(f"{file}:{problem}")
        if at.json:
            problems = [problem.model_dump() for problem in found]
            give({"name": None, "outcome": "refused", "problems": problems})
        raise typer.Exit(FAILED)
    applied = register(found, at.plane, dry_run=dry_run)
    if at.json:
        give(applied.model_dump(mode="json"))
        return
    would = "would be " if dry_run and applied.outcome != "unchanged" else ""
    draw(f"{applied.name} {would}{applied.outcome}, version {applied.version[:12]}")
    if applied.changes:
        rows = [(one.field, _shown(one.before), _shown(one.after)) for one in applied.changes]
        table([("field", "folds"), ("before", "folds"), ("after", "folds")], rows)


def _read(file: Path) -> Pipeline | list[FileProblem]:
    from relay.console.environment_checking import check
    from relay.console.pipeline_file import problem_of, read_pipeline

    text = file.read_text(encoding="utf-8", errors="replace")
    found = read_pipeline(text)
    if isinstance(found, list) or found.environment is None:
        return found
    fault = check(found.environment)
    if fault is None:
        return found
    if fault.certain:
        return [problem_of(text, fault.field, fault.problem)]
    talk(f"{problem_of(text, fault.field, fault.problem)}; the job will look again")
    return found


def list_(at: Invocation) -> None:
    """List the pipelines that are registered, or were dropped into.

    JSON: [{name, registered, description, current_version, paused, consecutive_failures,
    unreadable: why the recipe can't be read, or empty}].
    """
    from relay.console.pipelines_reading import summaries

    found = summaries(at.plane)
    if at.json:
        give([one.model_dump(mode="json") for one in found])
        return
    if not found:
        talk("no pipeline yet: `relay pipelines apply FILE` registers one")
        return
    columns = [("pipeline", ""), ("policy", "right"), ("state", "folds"), ("description", "folds")]
    table(columns, [(one.name, one.policy, one.state, one.description) for one in found])


def show(at: Invocation, name: Name) -> None:
    """Show a pipeline's recipe and how it is doing.

    JSON: {summary: as in list, version, waiting, run: the run whose turn it is or null,
    pipeline: the recipe with every default}.
    """
    import yaml

    from relay.console.pipelines_reading import detail

    found = detail(at.plane, name)
    if at.json:
        give(found.model_dump(mode="json"))
        return
    summary = found.summary
    talk(f"version {found.version[:12]}, policy {summary.policy}, {summary.state}")
    talk(f"{found.waiting} waiting, run {found.run or 'none'}")
    recipe = found.pipeline.model_dump(mode="json", exclude={"schema_version"})
    draw(yaml.safe_dump(recipe, sort_keys=False, allow_unicode=True).rstrip())


def resume(at: Invocation, name: Name) -> None:
    """Let a pipeline run again that two failed runs in a row have paused.

    JSON: {name, outcome: resumed|not_paused, run: the run whose turn it now is or null}.
    """
    from lambdas.logic.ensure_run import ensure_run

    at.plane.pipeline_bytes(name)
    resumed = at.plane.logic.ledger.pipelines.resume(name)
    run = ensure_run(name, at.plane.logic)
    outcome = "resumed" if resumed else "not_paused"
    if at.json:
        give({"name": name, "outcome": outcome, "run": run})
        return
    draw(f"{name} runs again" if resumed else f"{name} was not paused")
    draw(f"run {run}: `relay watch {run}`" if run else "no drop is waiting")


def _shown(value: object) -> str:
    return "" if value is None else str(value)


app.command("apply")(command(apply))
app.command("list")(command(list_))
app.command("show")(command(show))
app.command("resume")(command(resume))
