"""What is tried again, how often, and how patiently; error names come from the contracts."""

from __future__ import annotations

from typing import NamedTuple

from aws_cdk import Duration
from aws_cdk import aws_stepfunctions as sfn

from contracts.errors import (
    PreviousJobStillRunning,
    ServiceUnavailable,
    TransientError,
    names_below,
)

SERVICE_TROUBLE = (
    "Lambda.AWSLambdaException",
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.SdkClientException",
    "Lambda.ServiceException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Runtime.ExitError",
    "Sandbox.Timedout",
)
"""Lambda could not run the function, or not to its end; the same call may succeed later."""

JOBS_MAX = 10
"""Most jobs a pipeline may ask for; `submit` counts them, and ends the phase when it is fewer."""

BACKOFF = 1.5


class Rhythm(NamedTuple):
    """How often, and how long between."""

    interval_s: int
    max_delay_s: int
    attempts: int


UNTIL_IT_IS_GONE = Rhythm(interval_s=5, max_delay_s=60, attempts=200)
"""An hour and a half, jitter counted, for all attempts of a phase together: a pod on a lost machine
stays until the machine is replaced, and HyperPod's chain of repairs takes up to 90 minutes."""
A_NEW_JOB = Rhythm(interval_s=5, max_delay_s=60, attempts=JOBS_MAX - 1)
THE_SAME_CALL = Rhythm(interval_s=2, max_delay_s=30, attempts=6)


def retry_phase(task: sfn.TaskStateBase) -> None:
    """For a state that runs a job: each retry is a new token, and so a new attempt.

    A heartbeat that was missed is listed before the timeout, which would match it, too.
    """
    waiting, unavailable = PreviousJobStillRunning.__name__, ServiceUnavailable.__name__
    jobs = [name for name in names_below(TransientError) if name not in {waiting, unavailable}]
    _retry(task, UNTIL_IT_IS_GONE, waiting)
    _retry(task, A_NEW_JOB, *jobs)
    _retry(task, A_NEW_JOB, "States.HeartbeatTimeout")
    _retry(task, A_NEW_JOB, "States.Timeout")
    _retry(task, THE_SAME_CALL, unavailable, *SERVICE_TROUBLE)


def retry_decision(task: sfn.TaskStateBase) -> None:
    """For a state that asks `decide`, which may be asked the same again."""
    _retry(task, THE_SAME_CALL, *names_below(TransientError), "States.Timeout", *SERVICE_TROUBLE)


def _retry(task: sfn.TaskStateBase, rhythm: Rhythm, *errors: str) -> None:
    task.add_retry(
        errors=list(errors),
        interval=Duration.seconds(rhythm.interval_s),
        backoff_rate=BACKOFF,
        max_delay=Duration.seconds(rhythm.max_delay_s),
        max_attempts=rhythm.attempts,
        # Runs that failed together must not come back together.
        jitter_strategy=sfn.JitterType.FULL,
    )
