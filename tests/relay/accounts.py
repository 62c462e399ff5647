"""An account and a cluster in which everything is as it must be, to be broken in one place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cache
from typing import Any

import boto3
from botocore.validate import ParamValidator

from relay.doctor.answers import Answer, Missing, Unanswered

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
REGION, ACCOUNT = "eu-west-1", "123456789012"
IMAGE = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/relay-training:1"
EKS = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/team"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/"
GROUP = "relay:jobs"
KUEUE = "/apis/kueue.x-k8s.io/v1beta1"
INSIDE = "/namespaces/relay"
Call = tuple[str, str, dict[str, Any]]
Parameters = dict[str, Any]


@cache
def client(service: str) -> Any:
    return boto3.client(
        service, region_name=REGION, aws_access_key_id="no", aws_secret_access_key="no"
    )


def operation_model(service: str, operation: str) -> Any:
    """The model of an operation that boto3 has; KeyError when it hasn't."""
    meta = client(service).meta
    return meta.service_model.operation_model(meta.method_to_api_mapping[operation])


def url(queue: str) -> str:
    return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{queue}"


OUTPUTS = {
    "Bucket": "relay-bucket",
    "LedgerTable": "ledger",
    "StateMachineArn": f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:Relay-runs",
    "UploadsQueueUrl": url("uploads"),
    "UploadsDeadLetterQueueUrl": url("uploads-dead"),
    "ReportsQueueUrl": url("reports"),
    "ReportsDeadLetterQueueUrl": url("reports-dead"),
    "WorkspaceRoot": "/fsx/relay",
    "ProgressIntervalS": "15",
    "SubmitRoleArn": f"{ROLE}submit",
    "SweepRoleArn": f"{ROLE}sweep",
}
ENVIRONMENT = {
    "RUNNER": "kuberay",
    "BUCKET": "relay-bucket",
    "LEDGER_TABLE": "ledger",
    "STATE_MACHINE_ARN": OUTPUTS["StateMachineArn"],
    "WORKSPACE_ROOT": "/fsx/relay",
    "PROGRESS_INTERVAL_S": "15",
    "CLUSTER_NAME": "team",
    "CLUSTER_NAMESPACE": "relay",
    "JOB_IMAGE": IMAGE,
    "JOB_SERVICE_ACCOUNT": "relay-job",
    "JOB_QUEUE_NAME": "relay-queue",
    "JOB_PRIORITY_CLASS": "training-priority",
    "FSX_CLAIM": "fsx",
    "RAY_VERSION": "2.60.0",
    "HARDWARE_PROFILES": json.dumps(
        {
            "gpu": {
                "cpu": 90,
                "memory": "900Gi",
                "gpu": 8,
                "labels": {"node.kubernetes.io/instance-type": "ml.p5.48xlarge"},
            }
        }
    ),
}


def _described(outputs: dict[str, str]) -> dict[str, Any]:
    told = [{"OutputKey": key, "OutputValue": value} for key, value in outputs.items()]
    date = {"HTTPHeaders": {"date": format_datetime(NOW, usegmt=True)}}
    return {
        "Stacks": [{"StackStatus": "UPDATE_COMPLETE", "Outputs": told}],
        "ResponseMetadata": date,
    }


def _resources() -> list[dict[str, str]]:
    listed = [
        ("AWS::SQS::Queue", "UploadsQueueAAAA1111", url("uploads")),
        ("AWS::SQS::Queue", "UploadsDeadLettersAAAA1111", url("uploads-dead")),
        ("AWS::SQS::Queue", "MissedSweepsAAAA1111", url("missed")),
        ("AWS::Events::Rule", "SweepEveryRuleAAAA1111", "Relay-sweep"),
        ("AWS::Lambda::Function", "OtherAAAA1111", "other"),
        ("AWS::CloudWatch::Alarm", "FailedRunsAAAA1111", "Relay-failed-runs"),
    ]
    names = ("intake", "submit", "report", "decide", "sweep")
    listed += [("AWS::Lambda::Function", f"{one.title()}AAAA1111", one) for one in names]
    keys = ("ResourceType", "LogicalResourceId", "PhysicalResourceId")
    return [dict(zip(keys, one, strict=True)) for one in listed]


def _function(asked: Parameters) -> dict[str, Any]:
    name = asked["FunctionName"]
    return {
        "FunctionName": name,
        "Handler": "index.handler" if name == "other" else f"lambdas.{name}.handler.handler",
        "State": "Active",
        "LastUpdateStatus": "Successful",
        "Runtime": "python3.13",
        "Environment": {"Variables": dict(ENVIRONMENT)},
    }


def _bell(queue: str, prefix: str, suffix: str = "") -> dict[str, Any]:
    rules = [{"Name": "Prefix", "Value": prefix}]
    rules += [{"Name": "Suffix", "Value": suffix}] if suffix else []
    return {
        "QueueArn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}",
        "Events": ["s3:ObjectCreated:*"],
        "Filter": {"Key": {"FilterRules": rules}},
    }


def _quotas(asked: Parameters) -> dict[str, Any]:
    name = {
        "states": "Open executions",
        "sagemaker": "ml.p5.48xlarge for cluster usage",
    }[asked["ServiceCode"]]
    return {"Quotas": [{"QuotaName": name, "Value": 4.0}]}


def _stacks(asked: Parameters) -> dict[str, Any]:
    cluster = asked["StackName"].endswith("Cluster")
    return _described({"JobRoleArn": f"{ROLE}job"} if cluster else OUTPUTS)


HEALTHY: dict[str, Any] = {
    "cloudformation.describe_stacks": _stacks,
    "cloudformation.list_stack_resources": {"StackResourceSummaries": _resources()},
    "lambda.get_function_configuration": _function,
    "lambda.list_event_source_mappings": {
        "EventSourceMappings": [
            {
                "State": "Enabled",
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
                "ScalingConfig": {"MaximumConcurrency": 10},
            }
        ]
    },
    "lambda.get_account_settings": {"AccountLimit": {"UnreservedConcurrentExecutions": 900}},
    "service-quotas.list_service_quotas": _quotas,
    "sqs.get_queue_attributes": {"Attributes": {"ApproximateNumberOfMessages": "0"}},
    "events.describe_rule": {"State": "ENABLED", "ScheduleExpression": "rate(1 minute)"},
    "events.list_targets_by_rule": {"Targets": [{"Id": "t", "Arn": "a"}]},
    "cloudwatch.describe_alarms": {
        "MetricAlarms": [
            {
                "AlarmName": "Relay-failed-runs",
                "AlarmDescription": "A run failed: docs/operate/failed-runs.md",
                "StateValue": "OK",
            }
        ]
    },
    "s3.get_bucket_notification_configuration": {
        "QueueConfigurations": [
            _bell("uploads", "incoming/"),
            _bell("reports", "runs/", "/progress.json"),
            _bell("reports", "runs/", "/result.json"),
        ]
    },
    "s3.get_bucket_versioning": {"Status": "Enabled"},
    "dynamodb.describe_table": {"Table": {"TableStatus": "ACTIVE"}},
    "stepfunctions.describe_state_machine": {"status": "ACTIVE", "type": "STANDARD"},
    "eks.describe_cluster": {
        "cluster": {
            "status": "ACTIVE",
            "version": "1.34",
            "arn": EKS,
            "accessConfig": {"authenticationMode": "API"},
            "resourcesVpcConfig": {"endpointPublicAccess": False},
        }
    },
    "eks.describe_access_entry": {"accessEntry": {"type": "STANDARD", "kubernetesGroups": [GROUP]}},
    "eks.list_associated_access_policies": {"associatedAccessPolicies": []},
    "eks.describe_addon": {"addon": {"status": "ACTIVE", "addonVersion": "v1.3.10"}},
    "eks.list_pod_identity_associations": {"associations": [{"associationId": "a-1"}]},
    "eks.describe_pod_identity_association": {"association": {"roleArn": f"{ROLE}job"}},
    "fsx.describe_file_systems": {
        "FileSystems": [
            {
                "FileSystemId": "fs-0123456789abcdef0",
                "Lifecycle": "AVAILABLE",
                "StorageCapacity": 1200,
            }
        ]
    },
    "fsx.describe_data_repository_associations": {
        "Associations": [
            {
                "DataRepositoryPath": "s3://relay-bucket/exports",
                "S3": {"AutoExportPolicy": {"Events": ["NEW"]}},
            }
        ]
    },
    "ecr.describe_images": {
        "imageDetails": [{"imageDigest": "sha256:" + "a" * 64, "imageSizeInBytes": 9_000_000_000}]
    },
    "sagemaker.list_clusters": {"ClusterSummaries": [{"ClusterName": "pod"}]},
    "sagemaker.describe_cluster": {
        "ClusterName": "pod",
        "ClusterStatus": "InService",
        "Orchestrator": {"Eks": {"ClusterArn": EKS}},
        "InstanceGroups": [
            {
                "InstanceGroupName": "gpu",
                "InstanceType": "ml.p5.48xlarge",
                "CurrentCount": 2,
                "TargetCount": 2,
            }
        ],
    },
}


def _definition(*versions: str) -> dict[str, Any]:
    return {
        "spec": {"versions": [{"name": one, "served": True} for one in versions]},
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }


_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THERE: dict[str, Any] = {
    "/version": {"gitVersion": "v1.34.1-eks"},
    f"/apis/rbac.authorization.k8s.io/v1{INSIDE}/rolebindings": {
        "items": [
            {"roleRef": {"name": "other"}, "subjects": [{"kind": "User", "name": GROUP}]},
            {"roleRef": {"name": "relay-jobs"}, "subjects": [{"kind": "Group", "name": GROUP}]},
        ]
    },
    "/apis/apps/v1/deployments": {
        "items": [
            {
                "metadata": {"labels": {"app.kubernetes.io/version": "1.7.0"}},
                "spec": {
                    "template": {
                        "spec": {"containers": [{"image": "quay.io/kuberay/operator:v1.7.0"}]}
                    }
                },
                "status": {"readyReplicas": 1},
            }
        ]
    },
    f"{_CRDS}/rayjobs.ray.io": _definition("v1", "v1alpha1"),
    f"{_CRDS}/rayclusters.ray.io": _definition("v1"),
    f"/api/v1{INSIDE}": {"status": {"phase": "Active"}},
    f"/api/v1{INSIDE}/serviceaccounts/relay-job": {},
    f"{KUEUE}{INSIDE}/localqueues/relay-queue": {
        "spec": {"clusterQueue": "shared"},
        "status": {"conditions": [{"type": "Active", "status": "True"}]},
    },
    f"{KUEUE}/workloadpriorityclasses/training-priority": {"value": 100},
    "/api/v1/nodes": {
        "items": [{"status": {"allocatable": {"cpu": "191450m", "nvidia.com/gpu": "8"}}}]
    },
    f"/api/v1{INSIDE}/persistentvolumeclaims/fsx": {
        "spec": {"accessModes": ["ReadWriteMany"], "volumeName": "fsx-volume"},
        "status": {"phase": "Bound"},
    },
    "/api/v1/persistentvolumes/fsx-volume": {
        "spec": {"csi": {"driver": "fsx.csi.aws.com", "volumeHandle": "fs-0123456789abcdef0"}}
    },
}


class Account:
    """Answers for AWS: what is asked must be in AWS's models, and so must what is answered."""

    def __init__(self) -> None:
        self.answers = copy.deepcopy(HEALTHY)
        self.asked: list[Call] = []

    def ask(self, service: str, operation: str, region: str = "", **parameters: Any) -> Answer:
        model = operation_model(service, operation)
        report = ParamValidator().validate(parameters, model.input_shape)
        assert not report.has_errors(), report.generate_report()
        self.asked.append((service, operation, parameters))
        said: Answer | Callable[[Parameters], Answer] = self.answers[f"{service}.{operation}"]
        answer = said(parameters) if callable(said) else said
        if not isinstance(answer, Missing | Unanswered):
            assert set(answer) <= {*model.output_shape.members, "ResponseMetadata"}
        return answer

    def ask_all(self, service: str, operation: str, key: str, **parameters: Any) -> Answer:
        assert client(service).can_paginate(operation)
        answer = self.ask(service, operation, **parameters)
        assert isinstance(answer, Missing | Unanswered) or set(answer) == {key}
        return answer


class KubernetesThere:
    """Answers for a cluster."""

    def __init__(self) -> None:
        self.objects = copy.deepcopy(THERE)
        self.asked: list[str] = []

    def get(self, path: str, **_: str) -> Answer:
        self.asked.append(path)
        answer: Answer = self.objects.get(path, Missing(f"there is no {path}"))
        return answer
