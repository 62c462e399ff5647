"""The options that every command has, and what a command is given instead of them."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from relay.console.control_plane import ControlPlane
    from relay.console.locating import Wish


class Output(StrEnum):
    """How data is printed."""

    TABLE = "table"
    JSON = "json"


@dataclass(frozen=True)
class Invocation:
    """What the common options say."""

    output: Output
    stack: str | None
    aws: bool
    profile: str | None

    @property
    def json(self) -> bool:
        """Whether data is printed as JSON."""
        return self.output is Output.JSON

    @property
    def wish(self) -> Wish:
        """Where to go."""
        from relay.console.locating import Wish

        return Wish(self.stack, self.aws, self.profile)

    @functools.cached_property
    def plane(self) -> ControlPlane:
        """The control plane, found at its first use and named on stderr."""
        from relay.commands.voice import talk
        from relay.console.control_plane import find

        plane = find(self.wish)
        talk(f"using {plane.words}")
        return plane


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, even one that is wrong otherwise."""
    options = list(itertools.takewhile(lambda one: one != "--", arguments))
    apart = itertools.pairwise(options)
    joined = {f"--output={Output.JSON}", f"-o{Output.JSON}"}
    return not joined.isdisjoint(options) or any(
        name in {"--output", "-o"} and value == Output.JSON for name, value in apart
    )


_PANEL = "Common options"
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "output": (
        Annotated[
            Output,
            typer.Option("--output", "-o", help="How data is printed.", rich_help_panel=_PANEL),
        ],
        Output.TABLE,
    ),
    "stack": (
        Annotated[
            str | None,
            typer.Option(
                help="Stack of the control plane. (default: Relay)",
                envvar="RELAY_STACK",
                rich_help_panel=_PANEL,
            ),
        ],
        None,
    ),
    "aws": (
        Annotated[
            bool,
            typer.Option(
                "--aws", help="Not the local stack, even if one is up.", rich_help_panel=_PANEL
            ),
        ],
        False,
    ),
    "profile": (
        Annotated[
            str | None,
            typer.Option(
                help="Profile of the AWS configuration; not the local stack.",
                rich_help_panel=_PANEL,
            ),
        ],
        None,
    ),
}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the common options; it gets them as its first argument, an `Invocation`."""
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    common = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in _OPTIONS.items()
    ]

    def run(**given: Any) -> None:  # noqa: ANN401 - whatever the command takes
        at = Invocation(**{name: given.pop(name) for name in _OPTIONS})
        from relay.commands.following import interrupted

        with interrupted("interrupted"):
            function(at, **given)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own] + common
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run
