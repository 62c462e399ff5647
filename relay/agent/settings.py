"""How an agent is started: `python -m relay.agent --help`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from contracts.model import Contract

CHECKOUT = Path(__file__).resolve().parents[2]


class Settings(Contract):
    """An agent's settings; credentials and endpoints are those of the AWS SDK's environment."""

    state: Path = Field(description="Folder of the agent's own: jobs in flight, credentials, lock.")
    ray: str = Field(pattern=r"^http://", description="Ray's dashboard, http://host:port.")
    stack: str = "Relay"
    at_once: int = Field(ge=1, description="Jobs that run at the same time.")
    local_root: Path | None = Field(
        None, description="State folder of the local stack whose Ray this agent keeps alive."
    )
    ray_cpus: int = Field(4, ge=1, description="CPUs that a Ray started by this agent offers.")
    checkout: Path = CHECKOUT


def read(arguments: Sequence[str] | None = None) -> Settings:
    """Read the command line; a wrong one ends the process with code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m relay.agent",
        description="Claim jobs from the job queue, run them on Ray, and record how they end.",
    )
    parser.add_argument("--state", type=Path, required=True, help="folder of the agent's own")
    parser.add_argument("--ray", required=True, help="Ray's dashboard, http://host:port")
    parser.add_argument("--stack", default=os.environ.get("RELAY_STACK", "Relay"))
    parser.add_argument(
        "--at-once",
        type=int,
        default=max(2, os.cpu_count() or 1),
        help="jobs at the same time (default: one a CPU, at least 2)",
    )
    parser.add_argument(
        "--local-root", type=Path, help="local stack whose Ray is started again when it dies"
    )
    parser.add_argument("--ray-cpus", type=int, default=4, help="CPUs that Ray then offers")
    return Settings.model_validate(vars(parser.parse_args(arguments)))
