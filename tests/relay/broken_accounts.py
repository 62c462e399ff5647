"""Ways in which an account can fall short, and what the doctor must say of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from accounts import IMAGE, INSIDE, KUEUE, Account, KubernetesThere

from relay.doctor.answers import Missing, Unanswered

Break = Callable[[Account, KubernetesThere], None]
DENIED = Unanswered("eks:describe_cluster says AccessDenied", "let whoever runs it call it")


def setting(key: str, value: Any, *path: str | int) -> Break:
    """Change one thing that AWS answers."""

    def change(account: Account, _: KubernetesThere) -> None:
        place = account.answers
        steps = [key, *path]
        for step in steps[:-1]:
            place = place[step]
        place[steps[-1]] = value

    return change


def placing(path: str, value: Any, *inner: str | int) -> Break:
    """Change one thing of the cluster."""

    def change(_: Account, cluster: KubernetesThere) -> None:
        place = cluster.objects
        steps = [path, *inner]
        for step in steps[:-1]:
            place = place[step]
        place[steps[-1]] = value

    return change


def lacking(path: str) -> Break:
    """Take one object out of the cluster."""
    return lambda _, cluster: cluster.objects.pop(path)


def answering(key: str, **changes: Any) -> Break:
    """Change what an answer that depends on the question says of everything."""

    def change(account: Account, _: KubernetesThere) -> None:
        before = account.answers[key]
        account.answers[key] = lambda asked: {**before(asked), **changes}

    return change


_CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rayjobs.ray.io"
_OPERATOR = "/apis/apps/v1/deployments"
_CLAIM = f"/api/v1{INSIDE}/persistentvolumeclaims/fsx"
_QUEUE = f"{KUEUE}{INSIDE}/localqueues/relay-queue"
_BINDINGS = f"/apis/rbac.authorization.k8s.io/v1{INSIDE}/rolebindings"
_GROUP = ("InstanceGroups", 0)
_CLUSTER = ("eks.describe_cluster", "cluster")
_MESSAGES = {"Attributes": {"ApproximateNumberOfMessages": "7"}}
GONE = Missing("ResourceNotFoundException: no such thing")

BROKEN: list[tuple[str, Break, str, str]] = [
    # finding, what is broken, what is seen, what is to be done
    (
        "function intake",
        answering("lambda.get_function_configuration", State="Failed"),
        "Failed",
        "cdk deploy",
    ),
    (
        "function sweep",
        answering("lambda.get_function_configuration", LastUpdateStatus="Failed"),
        "last update Failed",
        "cdk deploy",
    ),
    (
        "function decide",
        setting("cloudformation.list_stack_resources", [], "StackResourceSummaries"),
        "no function decide",
        "cdk deploy",
    ),
    (
        "messages to intake",
        setting("lambda.list_event_source_mappings", "Disabled", "EventSourceMappings", 0, "State"),
        "Disabled",
        "enable the trigger",
    ),
    (
        "messages to report",
        setting(
            "lambda.list_event_source_mappings",
            [],
            "EventSourceMappings",
            0,
            "FunctionResponseTypes",
        ),
        "whole batch",
        "changed by hand",
    ),
    (
        "messages to report",
        setting("lambda.list_event_source_mappings", [], "EventSourceMappings"),
        "no queue",
        "cdk deploy",
    ),
    (
        "dead letters UploadsDeadLetters",
        setting("sqs.get_queue_attributes", _MESSAGES),
        "7 messages",
        "redrive",
    ),
    (
        "dead letters MissedSweeps",
        setting("sqs.get_queue_attributes", _MESSAGES),
        "7 messages",
        "redrive",
    ),
    (
        "rule SweepEveryRule",
        setting("events.describe_rule", "DISABLED", "State"),
        "DISABLED",
        "enable",
    ),
    (
        "rule SweepEveryRule",
        setting("events.list_targets_by_rule", [], "Targets"),
        "no target",
        "cdk deploy",
    ),
    (
        "alarms",
        setting("cloudwatch.describe_alarms", "ALARM", "MetricAlarms", 0, "StateValue"),
        "on: Relay-failed-runs",
        "docs/operate/failed-runs.md",
    ),
    (
        "bucket notification",
        setting("s3.get_bucket_notification_configuration", {}),
        "incoming/*, runs/*/progress.json",
        "cdk deploy",
    ),
    (
        "bucket versions",
        setting("s3.get_bucket_versioning", {}),
        "never enabled",
        "enable versioning",
    ),
    (
        "ledger",
        setting("dynamodb.describe_table", "ARCHIVED", "Table", "TableStatus"),
        "ARCHIVED",
        "restore",
    ),
    (
        "state machine",
        setting("stepfunctions.describe_state_machine", "DELETING", "status"),
        "DELETING",
        "cdk deploy",
    ),
    (
        "quota of functions at a time",
        setting(
            "lambda.get_account_settings", {"AccountLimit": {"UnreservedConcurrentExecutions": 10}}
        ),
        "10 for all of the account, 23 for Relay",
        "L-B99A9384",
    ),
    (
        "quota of ml.p5.48xlarge",
        setting("sagemaker.describe_cluster", 9, *_GROUP, "TargetCount"),
        "4 for clusters, 9 wanted",
        "raise SageMaker's quota",
    ),
    (
        "EKS cluster team",
        setting(_CLUSTER[0], "FAILED", "cluster", "status"),
        "FAILED",
        "EKS console",
    ),
    ("EKS cluster team", setting("eks.describe_cluster", GONE), "no such thing", "cluster_name"),
    (
        "cluster's authentication mode",
        setting(_CLUSTER[0], "CONFIG_MAP", "cluster", "accessConfig", "authenticationMode"),
        "CONFIG_MAP",
        "API_AND_CONFIG_MAP",
    ),
    (
        "access entry of submit",
        setting("eks.describe_access_entry", GONE),
        "no such thing",
        "cluster's stack",
    ),
    (
        "access entry of sweep",
        setting("eks.describe_access_entry", "EC2", "accessEntry", "type"),
        "EC2",
        "only STANDARD",
    ),
    (
        "access entry of sweep",
        setting("eks.describe_access_entry", [], "accessEntry", "kubernetesGroups"),
        "without a group or a policy",
        "cluster's stack",
    ),
    ("role binding", placing(_BINDINGS, [], "items"), "relay:jobs", "kubectl apply"),
    (
        "add-on eks-pod-identity-agent",
        setting("eks.describe_addon", GONE),
        "no such thing",
        "create-addon",
    ),
    (
        "add-on eks-pod-identity-agent",
        setting("eks.describe_addon", "DEGRADED", "addon", "status"),
        "DEGRADED",
        "EKS console",
    ),
    (
        "identity of relay-job",
        setting("eks.list_pod_identity_associations", [], "associations"),
        "no pod identity",
        "cdk deploy",
    ),
    (
        "identity of relay-job",
        setting("eks.describe_pod_identity_association", "another", "association", "roleArn"),
        "pods act as another",
        "delete the association",
    ),
    ("KubeRay operator", placing(_OPERATOR, [], "items"), "no deployment", "helm install"),
    (
        "KubeRay operator",
        placing(_OPERATOR, 0, "items", 0, "status", "readyReplicas"),
        "0 ready",
        "kubectl describe",
    ),
    (
        "kind rayjobs.ray.io",
        placing(_CRD, [{"name": "v1alpha1", "served": True}], "spec", "versions"),
        "v1alpha1, not v1",
        "helm install",
    ),
    ("kind rayjobs.ray.io", placing(_CRD, {}, "status"), "not established", "kubectl describe crd"),
    ("namespace relay", lacking(f"/api/v1{INSIDE}"), "there is no", "kubectl create namespace"),
    (
        "namespace relay",
        placing(f"/api/v1{INSIDE}", "Terminating", "status", "phase"),
        "Terminating",
        "make it again",
    ),
    (
        "service account relay-job",
        lacking(f"/api/v1{INSIDE}/serviceaccounts/relay-job"),
        "there is no",
        "kubectl apply",
    ),
    ("Kueue queue relay-queue", lacking(_QUEUE), "there is no", "compute quota"),
    (
        "Kueue queue relay-queue",
        placing(_QUEUE, {}, "status"),
        "not active",
        "describe clusterqueue shared",
    ),
    (
        "Kueue queue relay-queue",
        placing(_QUEUE, "Hold", "spec", "stopPolicy"),
        "stopped (Hold)",
        "stopPolicy",
    ),
    (
        "priority class training-priority",
        lacking(f"{KUEUE}/workloadpriorityclasses/training-priority"),
        "there is no",
        "workloadpriorityclasses",
    ),
    (
        "nodes for gpu",
        placing("/api/v1/nodes", [{"status": {"allocatable": {"cpu": "191"}}}], "items"),
        "1 healthy, 0 large enough",
        "allocatable",
    ),
    ("claim fsx", lacking(_CLAIM), "there is no", "first-deploy.md"),
    ("claim fsx", placing(_CLAIM, "Pending", "status", "phase"), "Pending", "first-deploy.md"),
    (
        "claim fsx",
        placing(_CLAIM, ["ReadWriteOnce"], "spec", "accessModes"),
        "ReadWriteOnce",
        "many writers",
    ),
    (
        "file system",
        setting("fsx.describe_file_systems", "MISCONFIGURED", "FileSystems", 0, "Lifecycle"),
        "MISCONFIGURED",
        "FSx console",
    ),
    (
        "file system's exports",
        setting(
            "fsx.describe_data_repository_associations",
            "s3://relay-bucket",
            "Associations",
            0,
            "DataRepositoryPath",
        ),
        "where uploads arrive",
        "start a run",
    ),
    (f"image {IMAGE}", setting("ecr.describe_images", GONE), "no such thing", "build and push"),
    (
        "HyperPod cluster",
        setting("sagemaker.describe_cluster", "another", "Orchestrator", "Eks", "ClusterArn"),
        "is on team",
        "name the right EKS cluster",
    ),
    (
        "HyperPod cluster",
        setting("sagemaker.describe_cluster", "Failed", "ClusterStatus"),
        "Failed",
        "SageMaker console",
    ),
]


UNSURE: list[tuple[str, Break, str]] = [
    (
        "stack's resources",
        setting("cloudformation.list_stack_resources", DENIED),
        "let whoever",
    ),
    ("function submit", answering("lambda.get_function_configuration", State="Pending"), "wait"),
    ("queue UploadsQueue", setting("sqs.get_queue_attributes", _MESSAGES), "in a minute"),
    (
        "quota of open executions",
        setting("service-quotas.list_service_quotas", {"Quotas": []}),
        "Service Quotas",
    ),
    ("EKS cluster team", setting(_CLUSTER[0], "UPDATING", "cluster", "status"), "wait"),
    ("EKS cluster team", setting("eks.describe_cluster", DENIED), "let whoever"),
    (
        "KubeRay operator",
        placing(
            _OPERATOR,
            [{"image": "kuberay/operator:v1.6.2"}],
            "items",
            0,
            "spec",
            "template",
            "spec",
            "containers",
        ),
        "helm upgrade",
    ),
    ("KubeRay operator", placing(_OPERATOR, Unanswered("403", "as someone who may")), "may"),
    (
        "KubeRay operator",
        placing(_OPERATOR, [{"status": {"readyReplicas": 1}}], "items"),
        "were read in 1.7",
    ),
    ("nodes for gpu", placing("/api/v1/nodes", [], "items"), "autoscaler"),
    (
        "HyperPod cluster",
        setting("sagemaker.describe_cluster", 1, *_GROUP, "CurrentCount"),
        "still missing",
    ),
    (
        "HyperPod cluster",
        setting("sagemaker.describe_cluster", "Updating", "ClusterStatus"),
        "wait",
    ),
    ("HyperPod cluster", setting("sagemaker.list_clusters", DENIED), "let whoever"),
]
