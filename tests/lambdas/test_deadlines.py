"""Whose time it is that passes, and who is the first to end an attempt that goes on too long."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.recipes import pipeline
from fakes.world import World

from contracts.ledger import AttemptRecord
from contracts.names import AttemptKey
from contracts.pipeline import Patience
from lambdas.logic.deadlines import DEADLINE_GRACE_S, over_at, state_timeout_s, whole_s
from lambdas.logic.reconcile import TURN_S

PATIENCE = Patience(timeout_s=3600, start_limit_s=600, queue_limit_s=7200)


def attempt(**changes: object) -> AttemptRecord:
    fields = {
        "run": "r260304-050607-abcdef",
        "pipeline": "tone",
        "round": 1,
        "phase": "collect",
        "attempt": 1,
        "token": "t",
        "nonce": "n" * 16,
        "status": "SUBMITTED",
        "submitted_at": START,
        "start_limit_s": 600,
        "queue_limit_s": 7200,
        "timeout_s": 3600,
        "deadline": START + timedelta(seconds=whole_s(PATIENCE, queues=True)),
    }
    return AttemptRecord.model_validate({**fields, **changes})


def test_the_queue_s_time_is_added_only_where_there_is_a_queue() -> None:
    assert whole_s(PATIENCE, queues=False) == 3600
    assert whole_s(PATIENCE, queues=True) == 10_800


@pytest.mark.parametrize("queues", [False, True])
def test_the_state_machine_which_knows_no_reason_is_the_last_to_give_up(*, queues: bool) -> None:
    waits_s = state_timeout_s(PATIENCE, queues=queues)
    assert waits_s >= whole_s(PATIENCE, queues=queues) + DEADLINE_GRACE_S + 60 + TURN_S


@pytest.mark.parametrize(
    ("changes", "queued", "seconds"),
    [
        ({}, False, 4200),
        ({}, True, 10_800),
        ({"queued_at": START + timedelta(seconds=5000)}, False, 9200),
        ({"queued_at": START + timedelta(seconds=5000)}, True, 10_800),
        ({"queued_at": START + timedelta(seconds=9000)}, False, 10_800),
        ({"timeout_s": None}, False, 10_800),
        ({"deadline": START + timedelta(seconds=3600)}, False, 3600),
    ],
)
def test_start_and_work_have_their_own_time_from_the_queue_on_within_the_deadline(
    changes: dict[str, object], *, queued: bool, seconds: int
) -> None:
    assert over_at(attempt(**changes), queued=queued) == START + timedelta(seconds=seconds)


def test_an_attempt_that_goes_on_too_long_ends_with_the_reason_and_not_as_a_lost_state(
    world: World,
) -> None:
    """Everyone looks every minute: who ends it says so in the attempt."""
    world.register(pipeline("tone", timeout_s=1800, start_limit_s=600))
    run = world.start_run()
    world.graph.step(run)
    key = AttemptKey(run, 1, "collect", 1)
    world.agent.answer_bell()
    for _ in range(60):
        world.clock.advance(60)
        if key in world.agent.jobs:
            world.agent.report_progress(key)
        world.deliver_all()
        world.graph.step(run)
        world.sweep()
        ended = world.attempts(run)[0]
        if ended.status not in {"SUBMITTED", "RUNNING"}:
            break
    assert (ended.status, ended.error) == ("FAILED", "DeadlineExceeded")
