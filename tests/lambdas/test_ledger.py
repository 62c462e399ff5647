"""What two who act at once can and cannot do to the ledger."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.table import FakeTable

from contracts.ledger import AttemptRecord, DropRecord, RunRecord, RunStatus
from contracts.result import PhaseOutput
from lambdas.ledger.ledger import Ledger

RUN = "r260304-050607-abcdef"
LATER = START + timedelta(hours=1)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(FakeTable())


def run(name: str = RUN, pipeline: str = "tone") -> RunRecord:
    return RunRecord(run=name, pipeline=pipeline, status="STARTING", created_at=START)


def attempt(token: str = "t1", number: int = 1) -> AttemptRecord:
    return AttemptRecord(
        run=RUN,
        pipeline="tone",
        round=1,
        phase="collect",
        attempt=number,
        token=token,
        nonce="n",
        status="RESERVED",
        submitted_at=START,
        start_limit_s=60,
        deadline=LATER,
    )


def drop(number: int = 1) -> DropRecord:
    return DropRecord(
        id=f"d{number}",
        pipeline="tone",
        key=f"incoming/tone/{number}",
        version_id="v",
        size=1,
        status="waiting",
        accepted_at=START + timedelta(seconds=number),
    )


@pytest.mark.parametrize("first", ["PUBLISHED", "KEPT", "NO_DATA", "EMPTY", "FAILED", "CANCELLED"])
def test_a_runs_end_is_its_end(ledger: Ledger, first: RunStatus) -> None:
    assert ledger.runs.open(run())
    assert ledger.runs.end(RUN, first, at=LATER, reason="one", version=3, uri="s3://b/k/")
    before = ledger.runs.get(RUN)
    assert not ledger.runs.end(RUN, "FAILED", at=LATER, reason="two")
    assert not ledger.runs.mark_open(RUN)
    assert not ledger.runs.set_drops(RUN, 7)
    assert ledger.runs.get(RUN) == before


def test_an_attempts_end_is_its_end(ledger: Ledger) -> None:
    record = attempt()
    assert ledger.attempts.reserve(record)
    output = PhaseOutput(outcome="succeeded", result_key="k")
    assert ledger.attempts.end(record, "SUCCEEDED", at=LATER, output=output)
    assert not ledger.attempts.end(record, "FAILED", at=LATER, error="JobCrashed")
    assert not ledger.attempts.mark_submitted(record, at=LATER, deadline=LATER)
    assert not ledger.attempts.take_over(record, "t2")
    (found,) = ledger.attempts.of_run(RUN)
    assert (found.status, found.output, found.error) == ("SUCCEEDED", output, "")


def test_one_run_holds_the_lease_and_all_of_a_refused_one_is_absent(ledger: Ledger) -> None:
    other = "r260304-050607-zzzzzz"
    assert ledger.runs.open(run())
    assert not ledger.runs.open(run(other))
    assert ledger.runs.get(other) is None
    assert ledger.runs.open(run(other, "facts"))


def test_only_the_holder_of_the_lease_frees_it_and_counts(ledger: Ledger) -> None:
    other = "r260304-050607-zzzzzz"
    ledger.runs.open(run())
    failed = run(other).model_copy(update={"status": "FAILED"})
    assert not ledger.runs.release(failed, failures_before=5)
    assert ledger.pipelines.get("tone").consecutive_failures == 0
    assert ledger.runs.release(run().model_copy(update={"status": "FAILED"}), failures_before=0)
    assert ledger.runs.lease("tone") is None
    assert ledger.pipelines.get("tone").consecutive_failures == 1


def test_a_number_is_reserved_once(ledger: Ledger) -> None:
    assert ledger.attempts.reserve(attempt("t1"))
    assert not ledger.attempts.reserve(attempt("t2"))
    assert [it.token for it in ledger.attempts.of_run(RUN)] == ["t1"]


def test_a_reservation_changes_hands_once(ledger: Ledger) -> None:
    first = attempt("t1")
    ledger.attempts.reserve(first)
    assert ledger.attempts.take_over(first, "t2")
    assert not ledger.attempts.take_over(first, "t3")
    assert not ledger.attempts.mark_submitted(first, at=LATER, deadline=LATER)
    second = attempt("t2")
    assert ledger.attempts.mark_submitted(second, at=LATER, deadline=LATER)
    assert not ledger.attempts.mark_submitted(second, at=LATER, deadline=LATER)
    assert [key.attempt for key in ledger.attempts.possible_jobs(9)] == [1]


def test_attempts_are_in_the_order_of_their_numbers(ledger: Ledger) -> None:
    for number in (10, 9, 1, 2):
        ledger.attempts.reserve(attempt(f"t{number}", number))
    found = ledger.attempts.of_phase(RUN, 1, "collect")
    assert [it.attempt for it in found] == [1, 2, 9, 10]


def test_a_drop_is_recorded_once_and_moved_once_by_the_lease_s_holder(ledger: Ledger) -> None:
    assert ledger.drops.record_waiting(drop())
    assert not ledger.drops.record_waiting(drop().model_copy(update={"accepted_at": LATER}))
    assert not ledger.drops.record_rejected(drop())
    assert not ledger.drops.mark_planned(drop(), RUN), "nobody has the lease"
    ledger.runs.open(run())
    assert not ledger.drops.mark_planned(drop(), "r260304-050607-zzzzzz")
    assert ledger.drops.mark_planned(drop(), RUN)
    assert not ledger.drops.mark_planned(drop(), RUN)
    assert not ledger.drops.any_waiting("tone")
    found = ledger.drops.get("d1")
    assert found is not None
    assert (found.status, found.run) == ("planned", RUN)


def test_drops_wait_in_the_order_of_their_arrival(ledger: Ledger) -> None:
    for number in (12, 3, 100):
        ledger.drops.record_waiting(drop(number))
    assert [it.id for it in ledger.drops.waiting("tone", limit=2)] == ["d3", "d12"]
