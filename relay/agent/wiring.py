"""From settings to an agent: the one place where its adapters meet."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from relay.agent.agent import Agent
from relay.agent.doorbells_sqs import SqsDoorbells
from relay.agent.in_flight import InFlight
from relay.agent.objects_s3 import S3Objects
from relay.agent.ports import RayKeeper
from relay.agent.processes_psutil import LocalProcesses
from relay.agent.ray_health import RayHealth
from relay.agent.ray_jobs import RayJobs, ray_token
from relay.agent.ray_keepers import LocalRay, SomebodyElse
from relay.agent.roles import JobCredentials, session_as
from relay.agent.settings import Settings
from relay.console.aws_session import aws_session
from relay.console.errors import Conflict
from relay.console.outputs import Outputs

if TYPE_CHECKING:
    from botocore.client import BaseClient

_CONFIG = Config(retries={"mode": "standard", "max_attempts": 2}, connect_timeout=2, read_timeout=5)
"""Short: an agent that is told to leave has five seconds."""

_PASSED_ON = ("AWS_ENDPOINT_URL", "AWS_CA_BUNDLE", "NO_PROXY")


class SystemClock:
    """`Clock` of this machine."""

    def now(self) -> datetime:
        """Aware UTC time."""
        return datetime.now(UTC)


@dataclass(frozen=True)
class Connected:
    """An agent, and the credentials that it must keep fresh for its jobs."""

    agent: Agent
    credentials: JobCredentials


def connect(settings: Settings, in_flight: InFlight) -> Connected:
    """Find the control plane, take on the agent's role, and speak to Ray.

    Called again when credentials are refused: everything that holds one is made anew.

    Raises:
        Conflict: the stack's jobs are not for agents.
    """
    ambient = aws_session()
    outputs = Outputs.of_stack(_client(ambient, "cloudformation"), settings.stack)
    if not outputs.job_queue_url:
        raise Conflict(
            f"stack {settings.stack} has runner kuberay: its jobs are RayJobs of a cluster and "
            "need no agent"
        )
    sts = _client(ambient, "sts")
    session = session_as(sts, outputs.agent_role_arn, in_flight.agent, ambient.region_name)
    credentials = JobCredentials(sts, outputs.job_role_arn, in_flight.agent, settings.state)
    jobs, clock = RayJobs(settings.ray, ray_token()), SystemClock()
    agent = Agent(
        objects=S3Objects(_client(session, "s3"), outputs.bucket),
        doorbells=SqsDoorbells(_client(session, "sqs"), outputs.job_queue_url),
        jobs=jobs,
        processes=LocalProcesses(),
        health=RayHealth(jobs, _keeper(settings), clock),
        in_flight=in_flight,
        clock=clock,
        environment=_job_environment(settings, credentials, ambient.region_name),
        at_once=settings.at_once,
    )
    return Connected(agent, credentials)


def _client(session: boto3.Session, service: str) -> BaseClient:
    return session.client(service, config=_CONFIG)


def _keeper(settings: Settings) -> RayKeeper:
    if settings.local_root is None:
        return SomebodyElse()
    return LocalRay(settings.local_root, settings.ray_cpus)


def _job_environment(
    settings: Settings, credentials: JobCredentials, region: str | None
) -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    if region:
        passed_on |= {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    own = {"PYTHONPATH": str(settings.checkout), "PYTHONUNBUFFERED": "1"}
    return {**passed_on, **own, **credentials.environment()}
