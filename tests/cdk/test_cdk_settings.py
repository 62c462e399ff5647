"""Settings: typed, and refused by name before anything is synthesised."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from combinations import CLUSTER, ENDPOINTS, PUBLIC, VPC
from synthesis import APP, ROOT, Template, definition, flags, flat, of_type, the

from cdk.settings import LOG_RETENTION_DAYS, TOLD_BYTES_MAX, Settings
from contracts.errors import ContractBroken


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gather_seconds", "3"),
        ("gather_s", "0"),
        ("gather_s", "soon"),
        ("name", "9lives"),
        ("name", "a" * 25),
        ("name", "under_score"),
        ("removal", "maybe"),
        ("architecture", "sparc"),
        ("workspace_root", "relative/path"),
        ("workspace_root", "/ends/in/slash/"),
        ("workspace_root", "/a/line\nbreak"),
        ("progress_interval_s", "0"),
        ("progress_interval_s", "61"),
        ("log_retention_days", "8"),
        ("log_level", "LOUD"),
        ("max_concurrency", "1"),
        ("powertools_version", "0"),
        ("powertools_layer", "powertools"),
        ("trusted_principals", "arn:aws:iam::123456789012:role/a,somebody"),
        ("stage", "Prod"),
        ("runner", "slurm"),
        ("alarm_email", "nobody"),
        ("alarm_email", "a@b.de, c@d.de"),
        ("runbooks", "docs/operate/"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(ContractBroken, match=name):
        APP.build({**flags(), name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cluster_name", ""),
        ("cluster_name", "a/b"),
        ("cluster_name", "a" * 101),
        ("image", ""),
        ("image", "training"),
        ("image", "registry/Training:1"),
        ("image", "registry:5000/training"),
        ("fsx_claim", ""),
        ("fsx_claim", "FSx"),
        ("namespace", "team/a"),
        ("namespace", ""),
        ("service_account", "job_account"),
        ("service_account", ""),
        ("kueue_queue", "Queue"),
        ("priority_class", "high"),
        ("ray_cluster", "9lives"),
        ("ray_cluster", "a" * 54),
        ("ray_version", "2.60"),
        ("hardware_profiles", "{"),
        ("hardware_profiles", "[]"),
        ("hardware_profiles", '{"gpu":{"cpu":4}}'),
        ("hardware_profiles", '{"gpu":{"cpu":4,"memory":"8G"}}'),
        ("hyperpod_cluster", "a--"),
        ("vpc_id", "vpc-1"),
        ("vpc_id", "vpc-0123456789abcdef0"),
        ("subnet_ids", "subnet-0123456789abcdef0"),
        ("subnet_ids", "subnet-0123456789abcdef0,here"),
        ("security_group_id", "sg-0123456789abcdef0"),
        ("cluster_security_group_id", "sg-0123456789abcdef0"),
        ("endpoints", "perhaps"),
        ("endpoints", "true"),
        ("route_table_ids", "rtb"),
    ],
)
def test_a_wrong_setting_of_a_cluster_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(ContractBroken, match=name):
        APP.build({**flags(), **PUBLIC, name: value})


@pytest.mark.parametrize("name", ["cluster_name", "image", "fsx_claim"])
def test_what_a_cluster_needs_is_asked_for_by_its_name(name: str) -> None:
    with pytest.raises(ContractBroken, match=name):
        Settings.read({key: value for key, value in PUBLIC.items() if key != name})


@pytest.mark.parametrize("name", [key for key in CLUSTER if key not in {"runner", "alarm_email"}])
def test_a_setting_of_a_cluster_without_a_cluster_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(ContractBroken, match=name):
        Settings.read({name: CLUSTER[name]})


def test_jobs_on_a_living_cluster_cannot_wait_for_quota() -> None:
    with pytest.raises(ContractBroken, match="kueue_queue has no effect on ray_cluster"):
        Settings.read({**PUBLIC, "ray_cluster": "shared", "kueue_queue": "queue"})


def test_endpoints_that_would_cut_machines_off_are_refused() -> None:
    private = {**PUBLIC, **VPC, **ENDPOINTS}
    assert Settings.read(private).endpoints
    del private["cluster_security_group_id"]
    with pytest.raises(ContractBroken, match="cluster_security_group_id"):
        Settings.read(private)


def test_profiles_that_a_function_cannot_be_told_are_refused() -> None:
    one = {"cpu": 4, "memory": "16Gi", "labels": {"instance": "x" * 60}}
    many = {f"profile-{number}": one for number in range(20)}
    with pytest.raises(ContractBroken, match=r"hardware_profiles.*at most 2048"):
        Settings.read({**PUBLIC, "hardware_profiles": many})


def test_settings_that_together_are_more_than_a_function_can_be_told_are_refused() -> None:
    """Each alone is within its own limit; Lambda would refuse them when they are deployed."""
    one = {"cpu": 4, "memory": "16Gi", "labels": {"instance": "x" * 60}}
    long = {
        "hardware_profiles": {f"profile-{number}": one for number in range(15)},
        "image": f"registry/{'i' * 400}:1",
        "fsx_claim": ".".join(["f" * 60] * 8),
        "workspace_root": "/w" * 200,
    }
    for name, value in long.items():
        assert Settings.read({**PUBLIC, name: value})
    with pytest.raises(ContractBroken, match="Lambda has room for 3000: shorten hardware_profiles"):
        Settings.read({**PUBLIC, **long})


def test_what_the_stack_itself_tells_functions_leaves_room_for_its_settings(
    template: Template, on_cluster: Template
) -> None:
    """Names are tokens in the template: BUCKET, LEDGER_TABLE and STATE_MACHINE_ARN at longest."""
    generated = 63 + 255 + 120
    for made in (template, on_cluster):
        for function in of_type(made, "Lambda::Function").values():
            variables = function["Properties"]["Environment"]["Variables"]
            own = [
                value
                for name, value in variables.items()
                if name.startswith(("POWERTOOLS_", "PROGRESS_", "RUNNER"))
            ]
            fixed = sum(map(len, variables)) + sum(map(len, own)) + generated
            assert fixed + TOLD_BYTES_MAX <= 4096


@pytest.mark.parametrize("name", ["EKS", "aws", "System"])
def test_a_stack_cannot_be_called_what_eks_keeps_for_its_own_groups(name: str) -> None:
    assert Settings.read({"name": name})
    with pytest.raises(ContractBroken, match=f"{name}.*EKS keeps groups"):
        Settings.read({**PUBLIC, "name": name})


def test_a_stack_that_is_thrown_away_cannot_be_protected() -> None:
    with pytest.raises(ContractBroken, match="deletion_protection"):
        Settings.read({"removal": "destroy", "deletion_protection": "true"})


def test_a_workspace_may_be_called_anything() -> None:
    for folder in ("/fsx/relay", "/home/a b/[x]/\u00e9"):
        assert Settings.read({"workspace_root": folder}).workspace_root == folder


def test_what_the_cdk_keeps_in_context_is_no_setting() -> None:
    assert Settings.read({"aws:cdk:enable-path-metadata": True, "@aws-cdk/x": 1}) == Settings()


def test_every_setting_says_what_it_is_for() -> None:
    assert [key for key, field in Settings.model_fields.items() if not field.description] == []


def test_every_retention_has_a_name_in_the_cdk() -> None:
    from cdk.log_retention import retention

    named = {retention(Settings(log_retention_days=days)) for days in LOG_RETENTION_DAYS}
    assert len(named) == len(LOG_RETENTION_DAYS)


def test_the_program_says_a_wrong_setting_in_one_line_and_makes_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env={**os.environ, "CDK_CONTEXT_JSON": '{"gather_s": "soon"}'},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert "gather_s" in line
    assert done.stdout == ""


def test_settings_reach_where_they_matter(thrown_away: Template) -> None:
    assert definition(thrown_away)["States"]["Gather drops"]["Seconds"] == 2
    machine = the(thrown_away, "StepFunctions::StateMachine")
    assert machine["StateMachineName"] == "Relay-Try-runs"
    for function in of_type(thrown_away, "Lambda::Function").values():
        properties = function["Properties"]
        assert properties["Architectures"] == ["x86_64"]
        assert flat(thrown_away, properties["Layers"][0]).endswith("python313-x86_64:27")
        variables = properties["Environment"]["Variables"]
        assert variables["WORKSPACE_ROOT"] == "/tmp/relay"
        assert variables["PROGRESS_INTERVAL_S"] == "0.5"
    for group in of_type(thrown_away, "Logs::LogGroup").values():
        assert group["Properties"]["RetentionInDays"] == 7


def test_every_resource_that_can_is_tagged(thrown_away: Template) -> None:
    for kind in ("S3::Bucket", "SQS::Queue", "DynamoDB::Table", "Lambda::Function", "IAM::Role"):
        for resource in of_type(thrown_away, kind).values():
            tags = {tag["Key"]: tag["Value"] for tag in resource["Properties"]["Tags"]}
            assert tags == {
                "project": "relay",
                "stage": "dev",
                "owner": "someone",
                "cost-center": "research",
            }
