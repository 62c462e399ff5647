"""The tree of commands."""

from __future__ import annotations

import typer

from relay.commands import (
    cancel,
    demo,
    doctor,
    drop,
    drops,
    local,
    pipelines,
    policies,
    retry,
    runs,
    show,
    validate,
    watch,
)
from relay.commands.invocation import command

app = typer.Typer(
    name="relay",
    help="Files dropped in a bucket become better policies.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done or kept, 1 failed, 2 usage, 3 not found, 4 conflict, 5 try again.",
)
_START, _DATA, _RUNS = "Start", "Pipelines and data", "Runs and policies"

app.command("demo", rich_help_panel=_START)(command(demo.demo))
app.add_typer(local.app, name="local", rich_help_panel=_START)
app.command("doctor", rich_help_panel=_START)(command(doctor.doctor))
app.add_typer(pipelines.app, name="pipelines", rich_help_panel=_DATA)
app.command("validate", rich_help_panel=_DATA)(command(validate.validate))
app.command("drop", rich_help_panel=_DATA)(command(drop.drop))
app.command("drops", rich_help_panel=_DATA)(command(drops.drops))
app.command("runs", rich_help_panel=_RUNS)(command(runs.runs))
app.command("show", rich_help_panel=_RUNS)(command(show.show))
app.command("watch", rich_help_panel=_RUNS)(command(watch.watch))
app.command("cancel", rich_help_panel=_RUNS)(command(cancel.cancel))
app.command("retry", rich_help_panel=_RUNS)(command(retry.retry))
app.command("policies", rich_help_panel=_RUNS)(command(policies.policies))
