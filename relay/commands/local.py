"""`relay local`: the whole of it on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from relay.commands.endings import NOT_FOUND
from relay.commands.invocation import Invocation, command
from relay.commands.voice import draw, give, table, talk

if TYPE_CHECKING:
    from rich.text import Text

    from relay.local.stack import ProcessStatus

app = typer.Typer(no_args_is_help=True, help="The whole of it on this machine.")


def up(at: Invocation) -> None:
    """Start the embedded AWS, a local Ray and the agent, and deploy the control plane.

    What was there before is there again. Other commands then use it by themselves.

    JSON: {folder, stack, environment: variables that point an AWS client at it, outputs}.
    """
    from relay.console.local_stack import settings_for
    from relay.console.locating import DEFAULT_STACK, local_root, shut_out_other_aws
    from relay.local import stack
    from relay.local.places import LocalPlaces

    shut_out_other_aws()
    places = LocalPlaces(local_root().resolve())
    settings = settings_for(places, at.stack or DEFAULT_STACK)
    made = stack.up(places, settings, talk)
    if at.json:
        give(
            {
                "folder": str(places.root),
                "stack": settings.app.stack,
                "environment": dict(made.environment),
                "outputs": dict(made.outputs),
            }
        )
        return
    draw(f"The local stack is up in {places.root}; `relay local down` ends it, data stays.")


def down(at: Invocation) -> None:
    """End every process of the local stack; its data stays, and open runs go on at the next up.

    JSON: {folder, outcome: down}.
    """
    from relay.console.locating import DEFAULT_STACK, local_root
    from relay.console.open_runs import open_runs
    from relay.local import stack
    from relay.local.places import LocalPlaces
    from relay.local.processes import Processes

    places = LocalPlaces(local_root().resolve())
    was_up = bool(Processes(places).names())
    for run in open_runs(places, at.stack or DEFAULT_STACK):
        talk(
            f"run {run.run} of {run.pipeline} is open: its job ends now, which costs its phase an "
            "attempt; if one is left, the next `relay local up` goes on from its last checkpoint"
        )
    stack.down(places, talk)
    if at.json:
        give({"folder": str(places.root), "outcome": "down"})
    elif was_up:
        draw("The local stack is down; `relay local up` brings it back with its data.")
    else:
        draw(f"No local stack was up in {places.root}.")


def status(at: Invocation) -> None:
    """Show how each process of the local stack is; ends with 3 when there is none.

    JSON: [{name, pid, answers: true|false|null, log}].
    """
    from relay.console.locating import local_root
    from relay.local import stack
    from relay.local.places import LocalPlaces

    found = stack.status(LocalPlaces(local_root().resolve()))
    if at.json:
        give([_json(one) for one in found])
    elif found:
        rows = [(one.name, _words(one), str(one.pid or ""), str(one.log)) for one in found]
        table([("process", ""), ("state", ""), ("pid", "right"), ("log", "")], rows)
    if not found:
        talk("relay: no local stack is up here: `relay local up` starts one")
        raise typer.Exit(NOT_FOUND)


def _words(one: ProcessStatus) -> Text:
    from rich.text import Text

    if one.pid is None:
        return Text("ended", style="red")
    if one.answers is False:
        return Text("does not answer", style="yellow")
    return Text("up", style="green")


def _json(one: ProcessStatus) -> dict[str, object]:
    return {"name": one.name, "pid": one.pid, "answers": one.answers, "log": str(one.log)}


app.command("up")(command(up))
app.command("down")(command(down))
app.command("status")(command(status))
