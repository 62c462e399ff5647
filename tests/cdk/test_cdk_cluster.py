"""Where jobs run on a cluster: what functions are told, and how they and their jobs are let in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from combinations import CLUSTER, PUBLIC
from synthesis import Template, flat, of_type, path_of, synthesise, the

TALKING = ("Submit", "Report", "Sweep")
HERE = "<AWS::Region>:<AWS::AccountId>"


def _variables(template: Template) -> dict[str, str]:
    told = [
        {key: flat(template, value) for key, value in variables.items()}
        for one in of_type(template, "Lambda::Function").values()
        for variables in [one["Properties"]["Environment"]["Variables"]]
    ]
    assert all(one == told[0] for one in told)
    return told[0]


def test_functions_are_told_what_their_settings_need(on_cluster: Template) -> None:
    from lambdas.settings import Settings

    variables = _variables(on_cluster)
    told = Settings.read({**variables, "AWS_REGION": "us-east-1"})
    assert told.runner == "kuberay"
    assert told.cluster_name == "train"
    assert told.cluster_namespace == "hyperpod-ns-research"
    assert told.job_image == CLUSTER["image"]
    assert told.job_service_account == "relay-job"
    assert told.job_queue_name == "hyperpod-ns-research-localqueue"
    assert told.job_priority_class == "training-priority"
    assert told.fsx_claim == "fsx"
    assert told.workspace_root == "/fsx/relay"
    assert told.ray_cluster == ""
    assert told.ray_version == "2.60.0"
    assert told.hardware_profiles.root["gpu"].gpu == 4
    assert "JOB_QUEUE_URL" not in variables


def test_what_functions_are_told_fits_into_what_lambda_takes(on_cluster: Template) -> None:
    said = "".join(key + value for key, value in _variables(on_cluster).items())
    assert len(said) + 2048 < 4096


def test_there_is_no_queue_for_jobs_and_no_role_of_an_agent(on_cluster: Template) -> None:
    paths = {path_of(on_cluster, name) for name in on_cluster["Resources"]}
    assert not [path for path in paths if path.split("/")[0] in {"Jobs", "Agent", "Job"}]
    told = set(on_cluster["Outputs"])
    assert told.isdisjoint({"JobQueueUrl", "JobRoleArn", "AgentRoleArn"})
    assert told >= {f"{name}RoleArn" for name in TALKING}


def test_the_tool_reads_the_outputs_of_either_runner(
    template: Template, on_cluster: Template
) -> None:
    from relay.console.outputs import Outputs

    for each in (template, on_cluster):
        values = dict.fromkeys(each["Outputs"], "1")
        assert Outputs.model_validate_strings(values).bucket == "1"


def test_of_the_cluster_the_control_plane_has_a_name_and_nothing_else(
    on_cluster: Template,
) -> None:
    kinds = {resource["Type"] for resource in on_cluster["Resources"].values()}
    assert not [kind for kind in kinds if kind.startswith(("AWS::EKS", "AWS::EC2", "AWS::FSx"))]


def test_a_queues_template_knows_nothing_of_clusters(template: Template) -> None:
    text = json.dumps(template).lower()
    assert [word for word in ("eks", "cluster", "vpc", "kueue", "fsx_claim") if word in text] == []


def test_only_those_who_talk_to_the_cluster_are_attached(on_cluster: Template) -> None:
    attached = {
        path_of(on_cluster, name): function["Properties"]["VpcConfig"]
        for name, function in of_type(on_cluster, "Lambda::Function").items()
        if "VpcConfig" in function["Properties"]
    }
    assert set(attached) == {f"{name}/Function" for name in TALKING}
    for network in attached.values():
        assert network == {
            "SecurityGroupIds": ["sg-0123456789abcdef0"],
            "SubnetIds": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
        }


def test_functions_are_members_of_one_group_and_hold_no_policy(access: Template) -> None:
    entries = of_type(access, "EKS::AccessEntry")
    assert {flat(access, one["Properties"]["PrincipalArn"]) for one in entries.values()} == {
        f"<Relay:{name}RoleArn>" for name in TALKING
    }
    for entry in entries.values():
        properties = entry["Properties"]
        assert properties["ClusterName"] == "train"
        assert properties["Type"] == "STANDARD"
        assert properties["KubernetesGroups"] == ["relay:jobs"]
        assert "AccessPolicies" not in properties
        # EKS refuses groups of these.
        assert not properties["KubernetesGroups"][0].startswith(
            ("system:", "eks:", "aws:", "amazon:", "iam:")
        )


def test_what_the_group_may_do_is_written_for_kubectl(cluster_assembly: Path) -> None:
    text = (cluster_assembly / "RelayCluster.access.json").read_text()
    account, role, binding = json.loads(text)["items"]
    assert [one["kind"] for one in (account, role, binding)] == [
        "ServiceAccount",
        "Role",
        "RoleBinding",
    ]
    for one in (account, role, binding):
        assert one["metadata"]["namespace"] == "hyperpod-ns-research"
    assert account["metadata"]["name"] == "relay-job"
    assert account["automountServiceAccountToken"] is False
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert [one["name"] for one in binding["subjects"]] == ["relay:jobs"]
    verbs = {verb for rule in role["rules"] for verb in rule["verbs"]}
    assert verbs.isdisjoint({"*", "escalate", "bind", "impersonate", "deletecollection"})
    writes = [rule for rule in role["rules"] if set(rule["verbs"]) - {"get", "list"}]
    assert [(rule["apiGroups"], rule["resources"]) for rule in writes] == [
        (["ray.io"], ["rayjobs"])
    ]


def test_the_group_may_do_what_the_runner_calls_and_no_more() -> None:
    from cdk.namespace_access import RULES
    from lambdas.adapters.kuberay.api import Answer
    from lambdas.adapters.kuberay.cluster import Cluster

    called: set[tuple[str, str, str]] = set()

    class Recorder:
        def call(self, method: str, target: str, **_: object) -> Answer:
            called.add(_right(method, target))
            return Answer(200, b"{}")

    cluster = Cluster(Recorder(), "team")  # type: ignore[arg-type]
    cluster.create({})
    cluster.get("job")
    cluster.delete("job")
    list(cluster.labels_of("bucket"))
    cluster.pods("job")
    cluster.events("job")
    cluster.workloads("uid")
    cluster.log("pod", "container")
    public = {name for name in vars(Cluster) if not name.startswith("_")}
    assert public == {"create", "get", "delete", "labels_of", "pods", "events", "workloads", "log"}
    allowed = {
        (group, kind, verb)
        for group, kinds, verbs in RULES
        for kind in kinds.split()
        for verb in verbs.split()
    }
    assert called == allowed


def _right(method: str, target: str) -> tuple[str, str, str]:
    """API group, resource and verb of a request, as Kubernetes' authoriser reads it."""
    parts = target.strip("/").split("/")
    group = parts[1] if parts[0] == "apis" else ""
    kind, *name = parts[parts.index("namespaces") + 2 :]
    resource = f"{kind}/{name[1]}" if len(name) > 1 else kind
    verb = {"POST": "create", "DELETE": "delete", "GET": "get" if name else "list"}[method]
    return group, resource, verb


def test_the_jobs_role_is_given_to_one_service_account_of_one_cluster(access: Template) -> None:
    association = the(access, "EKS::PodIdentityAssociation")
    assert association["ServiceAccount"] == "relay-job"
    assert association["Namespace"] == "hyperpod-ns-research"
    assert flat(access, association["RoleArn"]) == "<Job/Role>"
    (trust,) = the(access, "IAM::Role")["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert trust["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    only = {key: flat(access, value) for key, value in trust["Condition"]["StringEquals"].items()}
    assert only == {
        "aws:RequestTag/eks-cluster-arn": f"arn:<AWS::Partition>:eks:{HERE}:cluster/train",
        "aws:RequestTag/kubernetes-namespace": "hyperpod-ns-research",
        "aws:RequestTag/kubernetes-service-account": "relay-job",
    }


def test_endpoints_are_there_for_every_service_and_reached_by_functions_and_machines(
    access: Template,
) -> None:
    endpoints = [one["Properties"] for one in of_type(access, "EC2::VPCEndpoint").values()]
    kinds = {
        flat(access, one["ServiceName"]).removeprefix("com.amazonaws.<AWS::Region>."): one[
            "VpcEndpointType"
        ]
        for one in endpoints
    }
    called = ("eks", "eks-auth", "logs", "sqs", "states", "sts")
    interfaces = dict.fromkeys(called, "Interface")
    assert kinds == {**interfaces, "dynamodb": "Gateway", "s3": "Gateway"}
    assert all(
        one["PrivateDnsEnabled"] for one in endpoints if one["VpcEndpointType"] == "Interface"
    )
    ingress = the(access, "EC2::SecurityGroup")["SecurityGroupIngress"]
    assert {one["SourceSecurityGroupId"] for one in ingress} == {
        "sg-0123456789abcdef0",
        "sg-0123456789abcdef1",
    }
    assert {(one["FromPort"], one["ToPort"]) for one in ingress} == {(443, 443)}


def test_the_cluster_lets_functions_in(access: Template) -> None:
    rule = the(access, "EC2::SecurityGroupIngress")
    assert rule["GroupId"] == "sg-0123456789abcdef1"
    assert rule["SourceSecurityGroupId"] == "sg-0123456789abcdef0"
    assert (rule["FromPort"], rule["ToPort"]) == (443, 443)


def test_events_of_the_clusters_machines_reach_the_reports_queue(
    access: Template, on_cluster: Template
) -> None:
    rule = the(access, "Events::Rule")
    assert rule["EventPattern"]["source"] == ["aws.sagemaker"]
    (target,) = rule["Targets"]
    assert flat(access, target["Arn"]) == "<Relay:ReportsQueueArn>"
    assert flat(access, target["DeadLetterConfig"]["Arn"]) == "<Relay:ReportsDeadLetterQueueArn>"
    for queue in ("Queue", "DeadLetters"):
        statements = the(on_cluster, "SQS::QueuePolicy", f"/Reports/{queue}/")["PolicyDocument"]
        (sent,) = [one for one in statements["Statement"] if one.get("Sid") == "SendNodes"]
        like = flat(on_cluster, sent["Condition"]["ArnLike"]["aws:SourceArn"])
        assert like == f"arn:<AWS::Partition>:events:{HERE}:rule/{rule['Name']}"


def test_every_kind_of_event_that_the_rule_sends_is_understood(access: Template) -> None:
    from lambdas.logic.node_event import _READERS

    assert set(the(access, "Events::Rule")["EventPattern"]["detail-type"]) == set(_READERS)


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The access to a cluster of which nothing more is said than has to be."""
    outdir = tmp_path_factory.mktemp("public")
    synthesise(outdir, **PUBLIC)
    template: Template = json.loads((outdir / "RelayCluster.template.json").read_text())
    return template


def test_nothing_is_made_that_was_not_asked_for(public: Template) -> None:
    assert {resource["Type"] for resource in public["Resources"].values()} == {
        "AWS::EKS::AccessEntry",
        "AWS::EKS::PodIdentityAssociation",
        "AWS::IAM::Role",
    }


def test_the_stack_of_the_access_is_deployed_after_the_control_planes(
    cluster_assembly: Path,
) -> None:
    artifacts = json.loads((cluster_assembly / "manifest.json").read_text())["artifacts"]
    assert "Relay" in artifacts["RelayCluster"]["dependencies"]
    assert artifacts["RelayCluster"]["environment"] == "aws://unknown-account/unknown-region"
    read = json.loads((cluster_assembly / "RelayCluster.template.json").read_text())
    told = json.loads((cluster_assembly / "Relay.template.json").read_text())["Outputs"]
    text = json.dumps(read)
    assert [name for name in told if f'"OutputName": "{name}"' in text] == [
        "Bucket",
        *(f"{name}RoleArn" for name in TALKING),
        "ReportsQueueArn",
        "ReportsDeadLetterQueueArn",
    ]
