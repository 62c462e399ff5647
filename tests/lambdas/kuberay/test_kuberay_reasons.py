"""Why a job waits, in words: from what Kueue, the scheduler and the kubelet say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.adapters.kuberay.reasons import (
    alive,
    how_killed,
    silent_pod,
    why_queued,
    why_starting,
)
from lambdas.adapters.kuberay.words import end_of_log, plain

NO_QUOTA = "couldn't assign flavors to pod set gpu: insufficient quota for nvidia.com/gpu"


def workload(*conditions: tuple[str, str, str, str]) -> dict[str, Any]:
    names = ("type", "status", "reason", "message")
    return {"status": {"conditions": [dict(zip(names, it, strict=True)) for it in conditions]}}


def pod(
    role: str = "worker",
    phase: str = "Pending",
    *,
    waiting: tuple[str, str] | None = None,
    terminated: str = "",
    unscheduled: str = "",
    **status: Any,
) -> dict[str, Any]:
    container: dict[str, Any] = {"image": "registry/relay:1", "state": {}}
    if waiting:
        container["state"] = {"waiting": {"reason": waiting[0], "message": waiting[1]}}
    if terminated:
        container["lastState"] = {"terminated": {"reason": terminated, "exitCode": 137}}
    conditions = [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": unscheduled,
        }
    ]
    return {
        "metadata": {"name": f"x-{role}", "labels": {"relay/role": role, "ray.io/group": "gpu"}},
        "status": {
            "phase": phase,
            "containerStatuses": [container],
            "conditions": conditions if unscheduled else [],
            **status,
        },
    }


def warning(reason: str, message: str) -> dict[str, Any]:
    return {"type": "Warning", "reason": reason, "message": message}


@pytest.mark.parametrize(
    ("workloads", "says"),
    [
        ([], "waiting for quota; Kueue has not taken note of the job: is its queue's name right?"),
        ([workload()], "waiting for quota"),
        (
            [workload(("QuotaReserved", "False", "Pending", NO_QUOTA))],
            f"waiting for quota: {NO_QUOTA}",
        ),
        (
            [workload(("QuotaReserved", "False", "Inadmissible", "LocalQueue x doesn't exist"))],
            "waiting, as its queue cannot take it: LocalQueue x doesn't exist",
        ),
        (
            [workload(("QuotaReserved", "True", "QuotaReserved", "in queue"))],
            "waiting to be admitted: its quota is reserved",
        ),
        (
            [
                workload(
                    ("QuotaReserved", "False", "Pending", NO_QUOTA),
                    ("Evicted", "True", "Preempted", "to accommodate a higher priority"),
                )
            ],
            f"waiting for quota again, evicted (Preempted): {NO_QUOTA}",
        ),
    ],
)
def test_a_queued_job_says_what_it_waits_for(workloads: list[Any], says: str) -> None:
    assert why_queued(workloads) == says


UNFIT = (
    "0/9 nodes are available: 3 Insufficient cpu, 2 Insufficient nvidia.com/gpu. "
    "preemption: 0/9 nodes are available."
)
NO_NODE = "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector."
BACK_OFF = 'Back-off pulling image "registry/relay:1"'


@pytest.mark.parametrize(
    ("pods", "events", "says"),
    [
        ([], [], "no pod has been made yet"),
        (
            [],
            [warning("FailedToCreateHeadPod", 'pods "x" is forbidden: exceeded quota: team')],
            'FailedToCreateHeadPod: pods "x" is forbidden: exceeded quota: team',
        ),
        (
            [pod(unscheduled=UNFIT)],
            [],
            f"no node for the worker of group gpu: insufficient cpu, nvidia.com/gpu ({UNFIT})",
        ),
        ([pod("head", unscheduled=NO_NODE)], [], f"no node for the head: no node fits ({NO_NODE})"),
        (
            [pod("head", waiting=("ImagePullBackOff", BACK_OFF))],
            [],
            f"image registry/relay:1 can't be pulled for the head: {BACK_OFF}",
        ),
        (
            [pod(unscheduled=UNFIT), pod("head", waiting=("ErrImagePull", ""))],
            [],
            "image registry/relay:1 can't be pulled for the head: ErrImagePull",
        ),
        (
            [pod(terminated="OOMKilled", waiting=("CrashLoopBackOff", "back-off 5m"))],
            [],
            "the worker of group gpu was killed for using more memory than its profile has",
        ),
        (
            [pod(waiting=("CreateContainerConfigError", 'secret "x" not found'))],
            [],
            "the worker of group gpu can't start: CreateContainerConfigError: "
            'secret "x" not found',
        ),
        (
            [pod("head", waiting=("ContainerCreating", ""))],
            [warning("FailedMount", "MountVolume.SetUp failed for volume fsx: timed out")],
            "FailedMount: MountVolume.SetUp failed for volume fsx: timed out",
        ),
        (
            [pod("head", waiting=("ContainerCreating", "")), pod("head", "Running")],
            [{"type": "Normal", "reason": "Pulling", "message": "Pulling image"}],
            "starting: head",
        ),
        ([pod("head", "Running")], [], ""),
        (
            [pod("head", "Failed", reason="Evicted", message="low on ephemeral-storage")],
            [],
            "the head was evicted: low on ephemeral-storage",
        ),
    ],
)
def test_a_starting_job_says_what_keeps_it(pods: list[Any], events: list[Any], says: str) -> None:
    assert why_starting(pods, events) == says


def test_a_pod_that_only_waits_is_asked_for_its_events() -> None:
    assert silent_pod([pod("head", "Running"), pod("worker")]) == "x-worker"
    assert silent_pod([pod("head", "Running")]) is None


@pytest.mark.parametrize(
    ("phases", "lives"),
    [
        ([], False),
        (["Succeeded", "Failed"], False),
        (["Failed", "Running"], True),
        (["Unknown"], True),
    ],
)
def test_a_pod_that_has_not_ended_may_live(phases: list[str], lives: bool) -> None:
    assert alive([pod(phase=phase) for phase in phases]) is lives


def test_who_was_killed_for_memory_is_named() -> None:
    assert how_killed([pod("head", "Running")]) == ""
    assert how_killed([pod("head"), pod(terminated="OOMKilled")]).startswith("the worker of group")
    assert how_killed([pod(terminated="Error")]) == ""


def test_the_end_of_a_log_is_its_last_lines_as_one() -> None:
    log = "first\n\nTraceback:\n  x = 1\n\x1b[31mValueError: no\x1b[0m\n-----\n"
    assert end_of_log(log, 60) == "first | Traceback: | x = 1 | ValueError: no"
    assert end_of_log(log, 42) == "Traceback: | x = 1 | ValueError: no"
    assert end_of_log(log, 20) == "ValueError: no"
    assert end_of_log("a" * 50, 10) == "a" * 10
    assert end_of_log("", 10) == end_of_log("\n---\n", 10) == ""


@given(st.text(), st.integers(1, 80))
def test_the_end_of_a_log_is_one_printable_line_within_its_length(text: str, length: int) -> None:
    end = end_of_log(text, length)
    assert len(end) <= length
    assert end.isprintable()


@given(st.text())
def test_what_others_wrote_is_printed_as_one_plain_line(text: str) -> None:
    shown = plain(text)
    assert shown.isprintable()
    assert plain(shown) == shown
