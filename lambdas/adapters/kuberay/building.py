"""From settings to a runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lambdas.adapters.kuberay.api import KubeApi
from lambdas.adapters.kuberay.cluster import Cluster
from lambdas.adapters.kuberay.endpoint import ClusterEndpoint
from lambdas.adapters.kuberay.runner import KubeRayRunner
from lambdas.adapters.kuberay.token import ClusterToken
from lambdas.ports import Clock, Objects
from lambdas.settings import Settings

if TYPE_CHECKING:
    import boto3
    from botocore.client import BaseClient


def kuberay_runner(
    settings: Settings, objects: Objects, eks: BaseClient, session: boto3.Session, clock: Clock
) -> KubeRayRunner:
    """Connect a runner; nothing is called yet."""
    endpoint = ClusterEndpoint(eks, settings.cluster_name)
    token = ClusterToken(session, settings.aws_region, settings.cluster_name, clock.now)
    cluster = Cluster(KubeApi(endpoint, token), settings.cluster_namespace)
    return KubeRayRunner(objects, cluster, settings, clock)
