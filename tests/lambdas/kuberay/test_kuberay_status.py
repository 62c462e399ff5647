"""The table of what a RayJob's status means, each row with the source of its rule.

FACTS are the facts collected of KubeRay 1.7 (section 1.1 of the reference on AWS); OPERATOR is
`ray-operator/controllers/ray/rayjob_controller.go` of the same version, by function.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import RelayError, names_below
from lambdas.adapters.kuberay.status import Meaning, Status, look_of, meaning, status_of

JOBS = ("", "PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED")
DEPLOYMENTS = (
    "",
    "Initializing",
    "Running",
    "Complete",
    "Failed",
    "ValidationFailed",
    "Suspending",
    "Suspended",
    "Retrying",
    "Waiting",
)
REASONS = (
    "",
    "SubmissionFailed",
    "DeadlineExceeded",
    "PreRunningDeadlineExceeded",
    "AppFailed",
    "JobDeploymentStatusTransitionGracePeriodExceeded",
    "JobStatusCheckTimeoutExceeded",
    "ValidationFailed",
)


class Row(NamedTuple):
    status: Status | None
    means: Meaning
    state: str
    error: str
    source: str


def row(
    job: str,
    deployment: str,
    means: Meaning,
    state: str,
    source: str,
    error: str = "JobCrashed",
    **fields: object,
) -> Row:
    status = Status(job, deployment)._replace(**fields)  # type: ignore[arg-type]
    return Row(status, means, state, error, source)


LATE = {"reason": "DeadlineExceeded"}
GRACE = {"reason": "JobDeploymentStatusTransitionGracePeriodExceeded"}
UNREACHED = {"reason": "JobStatusCheckTimeoutExceeded"}
TABLE = [
    # The whole is over.
    row("SUCCEEDED", "Complete", "success", "ended", "FACTS: SUCCEEDED and Complete is success"),
    row("STOPPED", "Complete", "cancelled", "ended", "FACTS: a stopped job ends as Complete"),
    row(
        "SUCCEEDED", "Complete", "success", "ended", "OPERATOR checkTransitionGracePeriod", **GRACE
    ),
    row(
        "STOPPED", "Complete", "cancelled", "ended", "OPERATOR checkTransitionGracePeriod", **GRACE
    ),
    row("", "Complete", "failed", "ended", "FACTS: success is both fields, so this is none"),
    row("PENDING", "Complete", "failed", "ended", "FACTS: success is both fields, so this is none"),
    row("RUNNING", "Complete", "failed", "ended", "FACTS: success is both fields, so this is none"),
    row("FAILED", "Complete", "failed", "ended", "FACTS: success is both fields, so this is none"),
    row(
        "FAILED",
        "Failed",
        "failed",
        "ended",
        "OPERATOR Reconcile/Running: FAILED gives Failed",
        reason="AppFailed",
        failed=1,
    ),
    row("FAILED", "Failed", "failed", "ended", "OPERATOR checkTransitionGracePeriod", **GRACE),
    row("RUNNING", "Failed", "failed", "ended", "FACTS: kuberay#2314, decide on both fields"),
    row("PENDING", "Failed", "failed", "ended", "FACTS: kuberay#2314, decide on both fields"),
    row("SUCCEEDED", "Failed", "failed", "ended", "FACTS: success is both fields, so this is none"),
    row("STOPPED", "Failed", "failed", "ended", "FACTS: cancelled is STOPPED and Complete"),
    row(
        "",
        "Failed",
        "failed",
        "ended",
        "OPERATOR checkK8sJob: the submitter failed",
        reason="SubmissionFailed",
    ),
    row(
        "RUNNING",
        "Failed",
        "failed",
        "ended",
        "OPERATOR checkActiveDeadline",
        "DeadlineExceeded",
        **LATE,
    ),
    row(
        "", "Failed", "failed", "ended", "OPERATOR checkActiveDeadline", "DeadlineExceeded", **LATE
    ),
    row("RUNNING", "Failed", "failed", "ended", "FACTS: unreachable dashboard, 300 s", **UNREACHED),
    row(
        "",
        "Failed",
        "failed",
        "ended",
        "FACTS: preRunningDeadlineSeconds; not a deadline of ours, which is the job's",
        reason="PreRunningDeadlineExceeded",
    ),
    row(
        "",
        "ValidationFailed",
        "invalid",
        "ended",
        "FACTS: ValidationFailed never moves again",
        "JobInvalid",
        reason="ValidationFailed",
    ),
    # Failed is not the last word where KubeRay itself tries again.
    row(
        "FAILED",
        "Failed",
        "not final yet",
        "running",
        "FACTS: final only when failed > backoffLimit",
        failed=1,
        backoff_limit=2,
    ),
    row(
        "FAILED",
        "Failed",
        "not final yet",
        "running",
        "FACTS: final only when failed > backoffLimit",
        failed=2,
        backoff_limit=2,
    ),
    row(
        "FAILED",
        "Failed",
        "failed",
        "ended",
        "FACTS: final only when failed > backoffLimit",
        failed=3,
        backoff_limit=2,
    ),
    row(
        "RUNNING",
        "Failed",
        "failed",
        "ended",
        "FACTS: DeadlineExceeded is never retried",
        "DeadlineExceeded",
        failed=1,
        backoff_limit=2,
        **LATE,
    ),
    row(
        "RUNNING",
        "Failed",
        "failed",
        "ended",
        "FACTS: JobStatusCheckTimeoutExceeded is never retried",
        failed=1,
        backoff_limit=2,
        **UNREACHED,
    ),
    row("", "Retrying", "starting", "waiting", "FACTS: Failed, Retrying, empty, Initializing"),
    row(
        "FAILED", "Retrying", "starting", "waiting", "FACTS: Failed, Retrying, empty, Initializing"
    ),
    # On its way.
    row("", "", "starting", "waiting", "OPERATOR Reconcile/New"),
    row("", "Initializing", "starting", "waiting", "OPERATOR Reconcile/Initializing"),
    row("PENDING", "Initializing", "starting", "waiting", "OPERATOR Reconcile/Initializing"),
    row(
        "", "Waiting", "starting", "waiting", "FACTS: of InteractiveMode, which waits for a driver"
    ),
    row("", "Running", "starting", "waiting", "OPERATOR: Running once the submitter is made"),
    row("PENDING", "Running", "starting", "waiting", "Ray: PENDING has no driver yet"),
    row("RUNNING", "Running", "not final yet", "running", "OPERATOR Reconcile/Running"),
    row("SUCCEEDED", "Running", "not final yet", "running", "FACTS: it may lag, 30 s to 300 s"),
    row("FAILED", "Running", "not final yet", "running", "FACTS: it may lag, 30 s to 300 s"),
    row("STOPPED", "Running", "not final yet", "running", "FACTS: it may lag, 30 s to 300 s"),
    # Kueue's.
    row("", "Suspended", "queued", "queued", "FACTS: Suspended, not admitted, is queued"),
    row("", "", "queued", "queued", "Kueue's webhook suspends before KubeRay looks", suspend=True),
    row("RUNNING", "Suspending", "not final yet", "running", "OPERATOR: pods are still deleted"),
    row("", "Suspending", "not final yet", "running", "OPERATOR: pods are still deleted"),
    # Being deleted: a finalizer stops the Ray job first.
    row(
        "RUNNING",
        "Running",
        "not final yet",
        "running",
        "FACTS: a finalizer stops it",
        deleting=True,
    ),
    row(
        "FAILED", "Failed", "failed", "running", "foreground deletion waits for pods", deleting=True
    ),
    row("", "Suspended", "queued", "running", "foreground deletion waits for pods", deleting=True),
    Row(None, "vanished", "ended", "JobCrashed", "FACTS: neither success nor still running"),
]


@pytest.mark.parametrize("case", TABLE, ids=lambda it: f"{it.means}: {it.source}")
def test_a_status_means_what_its_source_says(case: Row) -> None:
    assert meaning(case.status) == case.means
    look = look_of(case.status)
    assert (look.state, look.reason != "") == (case.state, True)
    if look.state == "ended":
        assert look.error == case.error


@pytest.mark.parametrize("deployment", DEPLOYMENTS)
@pytest.mark.parametrize("job", JOBS)
def test_every_pair_of_fields_is_in_the_table_or_means_that_it_begins(
    job: str, deployment: str
) -> None:
    told = {(it.status.job, it.status.deployment) for it in TABLE if it.status is not None}
    if (job, deployment) not in told:
        expected = {
            "ValidationFailed": "invalid",
            "Suspended": "queued",
            "Suspending": "not final yet",
        }
        assert meaning(Status(job, deployment)) == expected.get(deployment, "starting")


@given(
    st.builds(
        Status,
        job=st.sampled_from(JOBS) | st.text(max_size=9),
        deployment=st.sampled_from(DEPLOYMENTS) | st.text(max_size=9),
        reason=st.sampled_from(REASONS) | st.text(max_size=9),
        message=st.text(),
        failed=st.integers(0, 5),
        backoff_limit=st.integers(0, 5),
        suspend=st.booleans(),
        deleting=st.booleans(),
    )
)
def test_whatever_is_told_there_is_a_look(status: Status) -> None:
    look = look_of(status)
    assert look.error in names_below(RelayError)
    assert look.reason
    assert "\n" not in look.reason
    assert len(look.reason) < 1000
    if status.deployment not in {"Complete", "Failed", "ValidationFailed"}:
        assert look.state != "ended"
    if meaning(status) == "success":
        assert (status.job, status.deployment) == ("SUCCEEDED", "Complete")
    if status.deleting:
        assert look.state == "running"


def test_what_a_job_says_of_itself_is_shown_without_its_log() -> None:
    status = Status(
        "FAILED",
        "Failed",
        "AppFailed",
        "Job entrypoint command failed with exit code 1, logs:\nTraceback …\n",
        failed=1,
    )
    assert look_of(status).reason == (
        "it failed (AppFailed: Job entrypoint command failed with exit code 1, logs:)"
    )


def test_fields_are_read_from_the_object() -> None:
    assert status_of({}) == Status()
    rayjob = {
        "metadata": {"deletionTimestamp": "2026-03-04T05:06:07Z"},
        "spec": {"backoffLimit": 1, "suspend": True},
        "status": {
            "jobStatus": "FAILED",
            "jobDeploymentStatus": "Failed",
            "reason": "AppFailed",
            "message": "m",
            "failed": 2,
        },
    }
    assert status_of(rayjob) == Status("FAILED", "Failed", "AppFailed", "m", 2, 1, True, True)
