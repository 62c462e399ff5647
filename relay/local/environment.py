"""The environment variables that point an AWS client at the local stack."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from relay.local.places import LocalPlaces

ACCOUNT = "123456789012"
REGION = "us-east-1"
_LOOPBACK = "127.0.0.1,localhost"


def endpoint(port: int) -> str:
    """Where the embedded AWS answers."""
    return f"https://127.0.0.1:{port}"


def no_proxy() -> dict[str, str]:
    """Loopback never goes through a proxy, however the shell is set up."""
    return {"NO_PROXY": _LOOPBACK, "no_proxy": _LOOPBACK}


def unaddressed(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without anything that could point an AWS client at a real account."""
    return {name: value for name, value in environment.items() if not name.startswith("AWS_")}


def interpreter_first(environment: Mapping[str, str]) -> str:
    """A PATH on which `python` is this interpreter, with this project's packages."""
    return os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", os.defpath)])


def client_environment(places: LocalPlaces, port: int) -> dict[str, str]:
    """What every client of the local stack needs: SDKs, the CDK CLI, jobs, the agent.

    The keys are the emulator's root keys and mean nothing anywhere else. Profiles and shared
    configuration files are shut out, so that no call can reach a real account by mistake.
    """
    return {
        "AWS_ENDPOINT_URL": endpoint(port),
        "AWS_CA_BUNDLE": str(places.certificate),
        "NODE_EXTRA_CA_CERTS": str(places.certificate),
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": str(places.root / "no-aws-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(places.root / "no-aws-credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DEFAULT_ACCOUNT": ACCOUNT,
        "CDK_DEFAULT_REGION": REGION,
        "CDK_DISABLE_CLI_TELEMETRY": "1",
        **no_proxy(),
    }
