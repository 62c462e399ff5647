"""What the local stack is made of: this checkout's app, a Ray, and the agent."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from relay.console.checkout import CHECKOUT
from relay.local.deployment import App
from relay.local.errors import LocalStackError
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of
from relay.local.ray_head import jobs_address
from relay.local.stack import Attached, Settings

RAY_CPUS = 4
"""What the local Ray offers: more than a laptop may have, so that small jobs don't wait."""
_SOURCES = ("app.py", "cdk.json", "cdk", "lambdas", "contracts")


def settings_for(places: LocalPlaces, stack: str) -> Settings:
    """Settings under which the stack deploys this checkout's control plane.

    What differs from AWS: shorter waits, a workspace below the state folder, and data that goes
    when the stack is deleted.
    """
    if not str(places.root.resolve()).isprintable():
        raise LocalStackError(
            f"the local stack can't be in {str(places.root)!r}, for of the characters in it: "
            "go to another folder, or name one in RELAY_LOCAL"
        )
    context = {
        "name": stack,
        "stage": "local",
        "removal": "destroy",
        "gather_s": 2,
        "progress_interval_s": 1,
        "max_concurrency": 2,
        "workspace_root": str(places.workspace.resolve()),
        "architecture": "x86_64",
    }
    app = App(
        program=CHECKOUT / "app.py",
        stack=stack,
        context=context,
        sources=[CHECKOUT / name for name in _SOURCES],
    )
    agent = Attached(
        name="agent",
        command=lambda _outputs: _agent(places, stack),
        env=lambda _outputs: _environment(),
        cwd=CHECKOUT,
    )
    return Settings(app=app, ray_cpus=RAY_CPUS, attached=[agent])


def _agent(places: LocalPlaces, stack: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "relay.agent",
        f"--state={places.root / 'agent'}",
        f"--ray={jobs_address(ports_of(places))}",
        f"--stack={stack}",
        f"--local-root={places.root}",
        f"--ray-cpus={RAY_CPUS}",
    ]


def _environment() -> Mapping[str, str]:
    path = os.pathsep.join([str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
