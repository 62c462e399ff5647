"""The combinations of settings that are documented, and so must go on working."""

from __future__ import annotations

from collections.abc import Mapping

Combination = Mapping[str, object]

THROWN_AWAY = {
    "name": "Relay-Try",
    "stage": "dev",
    "owner": "someone",
    "cost_center": "research",
    "removal": "destroy",
    "architecture": "x86_64",
    "gather_s": "2",
    "workspace_root": "/tmp/relay",
    "progress_interval_s": "0.5",
    "log_retention_days": "7",
}
PUBLIC = {
    "runner": "kuberay",
    "cluster_name": "train",
    "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/relay/training:1.0.0",
    "fsx_claim": "fsx",
}
KUEUE = {
    **PUBLIC,
    "namespace": "hyperpod-ns-research",
    "kueue_queue": "hyperpod-ns-research-localqueue",
    "priority_class": "training-priority",
}
NODES = {"hyperpod_cluster": "train-hyperpod"}
PROFILES = (
    '{"head":{"cpu":4,"memory":"16Gi"},"gpu":{"cpu":16,"memory":"128Gi","gpu":4,'
    '"labels":{"node.kubernetes.io/instance-type":"ml.g5.12xlarge"},'
    '"tolerations":[{"key":"nvidia.com/gpu"}]}}'
)
VPC = {
    "vpc_id": "vpc-0123456789abcdef0",
    "subnet_ids": "subnet-0123456789abcdef0, subnet-0123456789abcdef1",
    "security_group_id": "sg-0123456789abcdef0",
    "cluster_security_group_id": "sg-0123456789abcdef1",
}
ENDPOINTS = {"endpoints": "true", "route_table_ids": "rtb-0123456789abcdef0"}
CLUSTER = {
    **KUEUE,
    **NODES,
    **VPC,
    **ENDPOINTS,
    "hardware_profiles": PROFILES,
    "alarm_email": "team@example.com",
}
"""Everything that a cluster's deployment can have at once."""

COMBINATIONS: Mapping[str, Combination] = {
    "queue": {},
    "queue, told by e-mail": {"alarm_email": "team@example.com"},
    "queue, thrown away": THROWN_AWAY,
    "queue, kept but not protected": {"deletion_protection": "false", "log_retention_days": "3653"},
    "queue, own layer and principals": {
        "powertools_layer": "arn:aws:lambda:us-east-1:123456789012:layer:powertools:1",
        "trusted_principals": "arn:aws:iam::123456789012:role/a,arn:aws:iam::123456789012:role/b",
    },
    "cluster, public": PUBLIC,
    "cluster, public, told by e-mail": {**PUBLIC, "alarm_email": "team@example.com"},
    "cluster, thrown away": {**PUBLIC, **THROWN_AWAY},
    "cluster, Kueue": KUEUE,
    "cluster, long-lived": {
        **PUBLIC,
        "ray_cluster": "shared",
        "ray_version": "2.56.1",
        "service_account": "trainer",
    },
    "cluster, hardware profiles": {**PUBLIC, "hardware_profiles": PROFILES},
    "cluster, node events": {**PUBLIC, **NODES},
    "cluster, private": {**PUBLIC, **VPC},
    "cluster, private with endpoints": {**PUBLIC, **VPC, **ENDPOINTS},
    "cluster, everything": CLUSTER,
}
