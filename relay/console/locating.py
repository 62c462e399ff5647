"""Which AWS a command speaks to: the environment's, a profile's, or the local stack's."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from relay.console.errors import Misuse, TryAgain
from relay.local import emulator_process
from relay.local.places import LocalPlaces, default_root
from relay.local.processes import Processes
from relay.local.stack import environment_of

DEFAULT_STACK = "Relay"
LOCAL_ROOT = "RELAY_LOCAL"
"""Environment variable: state folder of the local stack, instead of ./.relay/local."""


@dataclass(frozen=True)
class Wish:
    """What the command line says about where to go.

    Attributes:
        stack: name of the stack; None: the default.
        aws: never the local stack.
        profile: a profile of the AWS configuration; never the local stack.
    """

    stack: str | None = None
    aws: bool = False
    profile: str | None = None


@dataclass(frozen=True)
class Location:
    """Where to go.

    Attributes:
        stack: name of the stack.
        profile: profile to use; None: the SDK's own choice.
        local: state folder of the local stack whose environment is used; None: none.
        words: the same for a person.
    """

    stack: str
    profile: str | None
    local: Path | None
    words: str


def locate(wish: Wish, environ: Mapping[str, str], local_up: Path | None) -> Location:
    """Decide where to go. Pure.

    Args:
        wish: what the command line says.
        environ: the environment.
        local_up: state folder of the local stack that is up here, if one is.

    Raises:
        Misuse: AWS_ENDPOINT_URL is no address.
    """
    stack = wish.stack or environ.get("RELAY_STACK") or DEFAULT_STACK
    if wish.profile:
        return Location(stack, wish.profile, None, f"stack {stack} of profile {wish.profile}")
    if endpoint := environ.get("AWS_ENDPOINT_URL"):
        _check_address(endpoint)
        return Location(stack, None, None, f"stack {stack} at {endpoint}")
    if local_up is not None and not wish.aws:
        return Location(stack, None, local_up, f"the local stack in {local_up}")
    return Location(stack, None, None, f"stack {stack} in AWS")


def _check_address(endpoint: str) -> None:
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Misuse(f"AWS_ENDPOINT_URL is {endpoint!r}: give http://host:port, or unset it")


def local_root(environ: Mapping[str, str] = os.environ) -> Path:
    """State folder of the local stack."""
    return Path(environ[LOCAL_ROOT]) if environ.get(LOCAL_ROOT) else default_root()


def local_up(root: Path) -> Path | None:
    """The folder, if its embedded AWS runs.

    Raises:
        TryAgain: it should run and does not; to go on to another AWS would surprise.
    """
    places = LocalPlaces(root)
    if not places.processes.exists():
        return None
    processes = Processes(places)
    if processes.alive(emulator_process.NAME):
        return root
    if emulator_process.NAME in processes.names():
        raise TryAgain(
            f"the local stack in {root} has crashed: `relay local up` brings it back with its "
            "data, `relay local down` gives it up; with --aws the command goes to AWS"
        )
    return None


def adopt(root: Path, environ: MutableMapping[str, str] = os.environ) -> None:
    """Point this process's SDK at a local stack, and at nothing else."""
    shut_out_other_aws(environ)
    environ.update(environment_of(LocalPlaces(root)))


def shut_out_other_aws(environ: MutableMapping[str, str] = os.environ) -> None:
    """Forget credentials, profiles and endpoints, lest a child of this process goes there."""
    for name in [name for name in environ if name.startswith("AWS_")]:
        del environ[name]
