"""A job that may still exist: stopped when nobody waits for it, forgotten when it is gone."""

from __future__ import annotations

from datetime import datetime, timedelta

from contracts.ledger import ATTEMPT_ENDED, RUN_ENDED, AttemptRecord
from contracts.names import AttemptKey
from lambdas.control_plane import ControlPlane
from lambdas.logic.deadlines import is_overdue

ENDING_GRACE_S = 60
LEFTOVER_S = 3600
"""How long what is left of an ended job stays, for people to look at."""


def reconcile_job(key: AttemptKey, plane: ControlPlane) -> None:
    """Stop a job whose run has ended or that is fenced; forget one that is gone."""
    attempts = plane.ledger.attempts.of_phase(key.run, key.round, key.phase)
    mine = next((attempt for attempt in attempts if attempt.attempt == key.attempt), None)
    now = plane.clock.now()
    if plane.runner.look(key).state == "ended":
        plane.ledger.attempts.forget_job(key)
        return
    if mine is None or _is_overdue(mine, now):
        plane.runner.stop(key, "nobody waits for it")
        plane.ledger.attempts.forget_job(key)
        return
    run = plane.ledger.runs.get(key.run)
    newer = any(it.attempt > key.attempt and it.status != "RESERVED" for it in attempts)
    if newer or run is None or run.status in RUN_ENDED:
        plane.runner.stop(key, "its run has ended or a newer attempt took over")
        plane.ledger.attempts.end(mine, "STOPPED", at=now, cause="nobody waited for it any more")
    elif mine.status in ATTEMPT_ENDED and _is_past(mine.ended_at or mine.deadline, now):
        plane.runner.stop(key, "its attempt has ended")


def reconcile_leftover(key: AttemptKey, plane: ControlPlane) -> None:
    """Stop a job that the ledger has forgotten, and clear away what is left of one that ended."""
    attempts = plane.ledger.attempts.of_phase(key.run, key.round, key.phase)
    mine = next((attempt for attempt in attempts if attempt.attempt == key.attempt), None)
    if mine is not None and mine.status not in ATTEMPT_ENDED:
        run = plane.ledger.runs.get(key.run)
        if run is not None and run.status not in RUN_ENDED:
            return
    now = plane.clock.now()
    fresh = mine is not None and now < (mine.ended_at or now) + timedelta(seconds=LEFTOVER_S)
    if fresh and plane.runner.look(key).state == "ended":
        return
    plane.runner.stop(key, "nobody waits for it any more")


def _is_overdue(attempt: AttemptRecord, now: datetime) -> bool:
    """Every job ends itself at its deadline, so one past it is gone, whoever marks it or not."""
    return is_overdue(attempt.deadline + timedelta(seconds=ENDING_GRACE_S), now)


def _is_past(ended_at: datetime, now: datetime) -> bool:
    return now > ended_at + timedelta(seconds=ENDING_GRACE_S)
