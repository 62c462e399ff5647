"""The one place where adapters meet: from settings to a control plane."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import boto3
from botocore.config import Config

from lambdas.adapters.clock import SystemClock
from lambdas.adapters.executions_sfn import StepFunctions
from lambdas.adapters.objects_s3 import S3Objects
from lambdas.control_plane import ControlPlane
from lambdas.ledger.ledger import Ledger
from lambdas.ledger.table import Table
from lambdas.ports import Clock, Objects, Runner
from lambdas.settings import Settings

_CONFIG = Config(
    retries={"mode": "standard", "max_attempts": 4},
    connect_timeout=3,
    read_timeout=10,
    max_pool_connections=20,
)
_EKS_CONFIG = Config(
    retries={"mode": "standard", "max_attempts": 2}, connect_timeout=3, read_timeout=4
)
"""Short, as the cluster is called after it: where there is no way to EKS, that is to be said."""


def build(settings: Settings, session: Any = boto3) -> ControlPlane:  # noqa: ANN401
    """Connect a control plane; `session` is boto3 itself or a session of it."""
    client = partial(session.client, config=_CONFIG)
    objects = S3Objects(client("s3"), settings.bucket)
    clock = SystemClock()
    return ControlPlane(
        ledger=Ledger(Table(client("dynamodb"), settings.ledger_table)),
        objects=objects,
        executions=StepFunctions(client("stepfunctions"), settings.state_machine_arn),
        runner=_runner(settings, session, objects, clock),
        clock=clock,
        workspace_root=settings.workspace_root,
        progress_interval_s=settings.progress_interval_s,
    )


def _runner(
    settings: Settings,
    session: Any,  # noqa: ANN401 - see `build`
    objects: Objects,
    clock: Clock,
) -> Runner:
    """The runner that settings choose; only its own modules are loaded."""
    if settings.runner == "kuberay":
        from lambdas.adapters.kuberay.building import kuberay_runner

        signer = session if isinstance(session, boto3.Session) else boto3.Session()
        eks = session.client("eks", config=_EKS_CONFIG)
        return kuberay_runner(settings, objects, eks, signer, clock)
    from lambdas.adapters.queue_runner import QueueRunner

    sqs = session.client("sqs", config=_CONFIG)
    return QueueRunner(objects, sqs, settings.job_queue_url, clock)


@cache
def control_plane() -> ControlPlane:
    """The function's control plane, built once a container."""
    return build(Settings.read())
