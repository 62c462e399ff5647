"""How long an attempt may last: work has its own time, and the cluster's queue one of its own.

From the inside out, so that whoever ends an attempt first can also say why: the job ends itself
when it has worked for `timeout_s`, then whoever looks ends what did not, at the latest at the
deadline that the job carries, and the state machine, which knows no reason, waits longest.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from contracts.ledger import AttemptRecord
from contracts.pipeline import Patience

DEADLINE_GRACE_S = 120
"""After a deadline, for the job to save, say so and be heard."""
STATE_GRACE_S = 300
"""After the deadline, until the state gives up: the grace, and two turns of the sweep."""


def whole_s(patience: Patience, *, queues: bool) -> int:
    """Seconds from an attempt's submission to the deadline that its job carries.

    Args:
        patience: the pipeline's.
        queues: whether jobs may wait in a queue of the cluster's.
    """
    return patience.timeout_s + (patience.queue_limit_s if queues else 0)


def state_timeout_s(patience: Patience, *, queues: bool) -> int:
    """Seconds after which the state machine gives a phase's attempt up."""
    return whole_s(patience, queues=queues) + STATE_GRACE_S


def over_at(attempt: AttemptRecord, *, queued: bool) -> datetime:
    """When an attempt's time is over: of its start and its work, while it is not queued.

    The start begins when the job is submitted, or anew when it was last seen in the queue: what
    was taken from a job is given back to it. The job itself, which saves its state and says why it
    ends, counts from where its start has ended, so it must not be ended before.
    """
    if queued or attempt.timeout_s is None:
        return attempt.deadline
    began = max(attempt.submitted_at, attempt.queued_at or attempt.submitted_at)
    longest_s = attempt.start_limit_s + attempt.timeout_s
    return min(attempt.deadline, began + timedelta(seconds=longest_s))


def is_overdue(over: datetime, now: datetime) -> bool:
    """Whether the time was over a grace ago."""
    return now > over + timedelta(seconds=DEADLINE_GRACE_S)
