"""`relay doctor`: every prerequisite, as it must be, broken, and not to be seen."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from accounts import INSIDE, NOW, Account, KubernetesThere
from broken_accounts import BROKEN, GONE, UNSURE, Break

from relay.doctor.answers import Missing
from relay.doctor.checks import clock, local
from relay.doctor.examination import Examination
from relay.doctor.finding import Finding, healthy
from relay.local.stack import ProcessStatus


class Practice:
    """An account, its cluster, and the doctor's word on them."""

    def __init__(self) -> None:
        self.account, self.cluster = Account(), KubernetesThere()
        self.connected: list[str] = []
        self.processes: list[ProcessStatus] | None = None

    def examine(self) -> dict[str, Finding]:
        examination = Examination(
            self.account,
            "Relay",
            region="eu-west-1",
            now=lambda: NOW,
            connect=self._connect,
            processes=self.processes,
        )
        found = list(examination.findings())
        by_name = {one.name: one for one in found}
        assert len(by_name) == len(found), "two findings have one name"
        return by_name

    def _connect(self, cluster: str) -> KubernetesThere:
        self.connected.append(cluster)
        return self.cluster

    def environment(self, **changes: str) -> None:
        before = self.account.answers["lambda.get_function_configuration"]

        def changed(asked: dict[str, Any]) -> dict[str, Any]:
            answer = before(asked)
            answer["Environment"]["Variables"].update(changes)
            return answer

        self.account.answers["lambda.get_function_configuration"] = changed


@pytest.fixture
def practice() -> Practice:
    return Practice()


def test_an_account_that_has_everything_is_well(practice: Practice) -> None:
    found = practice.examine()
    assert {one.name: one.seen for one in found.values() if one.verdict != "ok"} == {}
    assert not any(one.remedy for one in found.values())
    assert practice.connected == ["team"]
    assert len(found) > 30


def test_nothing_is_asked_but_reads(practice: Practice) -> None:
    practice.examine()
    asked = {operation for _, operation, _ in practice.account.asked}
    assert {one for one in asked if not re.match(r"(get|list|describe)_", one)} == set()
    assert len(asked) > 20


@pytest.mark.parametrize(("name", "broken", "seen", "remedy"), BROKEN)
def test_what_is_broken_is_wrong_and_has_a_remedy(
    practice: Practice, name: str, broken: Break, seen: str, remedy: str
) -> None:
    broken(practice.account, practice.cluster)
    found = practice.examine()
    assert not healthy(found.values())
    assert found[name].verdict == "wrong"
    assert seen in found[name].seen
    assert remedy in found[name].remedy


@pytest.mark.parametrize(("name", "broken", "remedy"), UNSURE)
def test_what_cannot_be_seen_or_will_show_in_time_is_unknown_and_no_reason_to_fail(
    practice: Practice, name: str, broken: Break, remedy: str
) -> None:
    broken(practice.account, practice.cluster)
    found = practice.examine()
    assert (found[name].verdict, healthy([found[name]])) == ("unknown", True)
    assert remedy in found[name].remedy


def test_a_cluster_that_cannot_be_seen_is_not_called_and_all_in_it_is_unknown(
    practice: Practice,
) -> None:
    practice.account.answers["eks.describe_cluster"] = GONE
    found = practice.examine()
    assert practice.connected == []
    assert practice.cluster.asked == []
    assert found["cluster's API"].verdict == found["namespace relay"].verdict == "unknown"


def test_without_the_stack_nothing_else_is_looked_at(practice: Practice) -> None:
    practice.account.answers["cloudformation.describe_stacks"] = Missing("Relay does not exist")
    found = practice.examine()
    assert list(found) == ["stack Relay", "clock"]
    assert (found["stack Relay"].verdict, found["clock"].verdict) == ("wrong", "unknown")
    assert "cdk deploy Relay" in found["stack Relay"].remedy


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("CREATE_COMPLETE", "ok"),
        ("UPDATE_IN_PROGRESS", "unknown"),
        ("UPDATE_ROLLBACK_COMPLETE", "unknown"),
        ("ROLLBACK_COMPLETE", "wrong"),
        ("DELETE_FAILED", "wrong"),
    ],
)
def test_a_stack_is_judged_by_its_status(practice: Practice, status: str, verdict: str) -> None:
    before = practice.account.answers["cloudformation.describe_stacks"]

    def told(asked: dict[str, Any]) -> dict[str, Any]:
        answer = before(asked)
        answer["Stacks"][0]["StackStatus"] = status
        return answer

    practice.account.answers["cloudformation.describe_stacks"] = told
    assert practice.examine()["stack Relay"].verdict == verdict


def test_a_stack_of_something_else_is_named_as_such(practice: Practice) -> None:
    stacks = {"Stacks": [{"StackStatus": "CREATE_COMPLETE", "Outputs": []}]}
    practice.account.answers["cloudformation.describe_stacks"] = stacks
    assert "its outputs lack Bucket" in practice.examine()["stack Relay"].seen


def test_settings_that_lack_something_are_wrong_before_any_cluster_is_looked_at(
    practice: Practice,
) -> None:
    practice.environment(JOB_IMAGE="")
    found = practice.examine()
    assert found["runner"].verdict == "wrong"
    assert "JOB_IMAGE" in found["runner"].seen
    assert practice.connected == []


def test_an_access_policy_of_the_namespace_does_as_well_as_a_group(practice: Practice) -> None:
    policy = {
        "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonSagemakerHyperpodTrainingPolicy",
        "accessScope": {"type": "namespace", "namespaces": ["relay"]},
    }
    practice.account.answers["eks.describe_access_entry"]["accessEntry"]["kubernetesGroups"] = []
    practice.account.answers["eks.list_associated_access_policies"] = {
        "associatedAccessPolicies": [policy]
    }
    found = practice.examine()
    assert "AmazonSagemakerHyperpodTrainingPolicy" in found["access entry of submit"].seen
    assert "role binding" not in found
    policy["accessScope"] = {"type": "namespace", "namespaces": ["another"]}
    assert practice.examine()["access entry of submit"].verdict == "wrong"


def test_what_is_not_set_up_is_not_asked_for(practice: Practice) -> None:
    practice.environment(JOB_QUEUE_NAME="", JOB_PRIORITY_CLASS="", JOB_IMAGE="public.ecr.aws/x:1")
    found = practice.examine()
    assert not [name for name in found if name.startswith(("Kueue", "priority"))]
    assert found["image public.ecr.aws/x:1"].verdict == "unknown"
    assert not [call for call in practice.account.asked if call[0] == "ecr"]


def test_a_living_ray_cluster_is_looked_at_instead_of_nodes(practice: Practice) -> None:
    practice.environment(RAY_CLUSTER="shared", JOB_QUEUE_NAME="", JOB_PRIORITY_CLASS="")
    assert practice.examine()["RayCluster shared"].verdict == "wrong"
    path = f"/apis/ray.io/v1{INSIDE}/rayclusters/shared"
    practice.cluster.objects[path] = {"status": {"state": "ready"}}
    found = practice.examine()
    assert found["RayCluster shared"].verdict == "ok"
    assert not [name for name in found if name.startswith("nodes")]


def test_with_runner_queue_no_cluster_is_looked_for(practice: Practice) -> None:
    practice.environment(RUNNER="queue")
    found = practice.examine()
    assert found["runner"].verdict == "unknown"
    assert "relay.agent" in found["runner"].remedy
    assert {call[0] for call in practice.account.asked}.isdisjoint({"eks", "sagemaker", "fsx"})


def test_the_local_stacks_processes_are_looked_at(practice: Practice) -> None:
    practice.environment(RUNNER="queue")
    log = Path("/tmp/log")
    practice.processes = [
        ProcessStatus("aws", 1, True, log),
        ProcessStatus("ray", 2, False, log),
        ProcessStatus("agent", None, None, log),
    ]
    found = practice.examine()
    verdicts = [found[f"local {name}"].verdict for name in ("aws", "ray", "agent")]
    assert verdicts == ["ok", "wrong", "wrong"]
    assert local.process("agent", 3, None, "log").verdict == "ok"


@pytest.mark.parametrize(("seconds", "verdict"), [(2, "ok"), (-100, "unknown"), (301, "wrong")])
def test_the_clock_is_judged_by_what_signatures_bear(seconds: int, verdict: str) -> None:
    date = NOW.strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert clock.skew(date, NOW + timedelta(seconds=seconds)).verdict == verdict


def test_an_image_is_asked_for_where_it_is(practice: Practice) -> None:
    digest = "sha256:" + "b" * 64
    elsewhere = f"999999999999.dkr.ecr.us-west-2.amazonaws.com/team/relay:2@{digest}"
    practice.environment(JOB_IMAGE=elsewhere)
    practice.examine()
    (asked,) = [call[2] for call in practice.account.asked if call[0] == "ecr"]
    assert asked == {
        "registryId": "999999999999",
        "repositoryName": "team/relay",
        "imageIds": [{"imageDigest": digest}],
    }
