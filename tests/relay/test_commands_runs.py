"""`relay runs`, `show`, `watch`, `cancel` and `retry`."""

from __future__ import annotations

from pathlib import Path

import pytest
from control_planes import Relay, Stack, open_run, register, start_execution, waiting_drop
from job_objects import BUCKET
from stories import EVALUATED, RUN, T0, at, attempt, result

from contracts import layout, ledger
from contracts.names import AttemptKey
from contracts.plan import Plan, PlannedDrop
from contracts.result import PhaseOutput

EXAMPLE = Path(__file__).parents[2] / "examples" / "preferences"


def test_runs_are_listed_newest_first_over_all_pipelines(relay: Relay, stack: Stack) -> None:
    older = "r260304-050606-abcdef"
    open_run(stack, run=older, status="KEPT", ended_at=at(3))
    open_run(stack)
    stack.ledger.pipelines.note("empty")
    found = relay("runs", "-o", "json").json
    assert [one["run"] for one in found] == [RUN, older]
    assert [one["run"] for one in relay("runs", "--limit", "1", "-o", "json").json] == [RUN]
    assert relay("runs", "--pipeline", "empty", "-o", "json").json == []
    assert RUN in relay("runs").out


def test_an_unknown_pipeline_is_not_found_by_any_command(relay: Relay) -> None:
    for words in (
        ["runs", "--pipeline", "nosuch"],
        ["drops", "--pipeline", "nosuch"],
        ["policies", "nosuch"],
        ["pipelines", "show", "nosuch"],
        ["pipelines", "resume", "nosuch"],
        ["drop", str(EXAMPLE / "pairs.jsonl"), "--pipeline", "nosuch"],
    ):
        ended = relay(*words)
        assert (ended.code, ended.out) == (3, "")
        assert "there is no pipeline nosuch" in ended.err
        ended = relay(*words, "-o", "json")
        assert (ended.code, ended.json["exit_code"]) == (3, 3)
        assert "there is no pipeline nosuch" in ended.json["reason"]


def test_an_unknown_run_is_not_found_by_any_command(relay: Relay) -> None:
    for verb in ("show", "watch", "cancel", "retry"):
        ended = relay(verb, RUN)
        assert (ended.code, ended.out) == (3, "")
        assert f"there is no run {RUN}" in ended.err


def test_a_run_is_shown_from_ledger_and_results(relay: Relay, stack: Stack) -> None:
    open_run(stack, status="PUBLISHED", version=1, ended_at=at(9))
    key = AttemptKey(RUN, 1, "evaluate", 1)
    stack.s3.put_object(
        Bucket=BUCKET,
        Key=layout.result(key),
        Body=result("evaluate", metrics=EVALUATED).to_bytes(),
    )
    output = PhaseOutput(outcome="succeeded", result_key=layout.result(key))
    made = attempt("evaluate", status="SUCCEEDED", output=output)
    item_key = ledger.attempt_item_key(RUN, 1, "evaluate", 1)
    stack.table.write(stack.table.put(item_key, ledger.attributes(made)))
    ended = relay("show", RUN, "-o", "json")
    assert (ended.code, ended.json["status"]) == (0, "PUBLISHED")
    assert "a token" not in ended.out, "a task token is nobody's business"
    assert "PUBLISHED" in relay("show", RUN).out


def test_watching_a_run_that_has_ended_shows_it_and_ends_as_it_did(
    relay: Relay, stack: Stack
) -> None:
    open_run(stack, status="FAILED", reason="JobFailed: no", ended_at=at(9))
    ended = relay("watch", RUN, "-o", "json")
    assert (ended.code, ended.json["error"]) == (1, "JobFailed")


def test_ctrl_c_while_watching_leaves_the_run_alone_and_says_so(
    relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(_seconds: float) -> None:
        raise KeyboardInterrupt

    open_run(stack)
    arn = start_execution(stack)
    monkeypatch.setattr("relay.console.following.time.sleep", press)
    ended = relay("watch", RUN)
    assert ended.code == 130
    assert f"the run goes on: `relay watch {RUN}`" in ended.err
    assert stack.sfn.describe_execution(executionArn=arn)["status"] == "RUNNING"


def test_cancelling_stops_the_execution_with_its_reason(relay: Relay, stack: Stack) -> None:
    open_run(stack)
    arn = start_execution(stack)
    ended = relay("cancel", RUN, "--reason", "wrong data", "-o", "json")
    assert (ended.code, ended.json) == (0, {"run": RUN, "outcome": "cancelling"})
    stopped = stack.sfn.describe_execution(executionArn=arn)
    assert stopped["status"] == "ABORTED"


def test_an_ended_run_cannot_be_cancelled(relay: Relay, stack: Stack) -> None:
    open_run(stack, status="KEPT", ended_at=at(1))
    ended = relay("cancel", RUN)
    assert ended.code == 4
    assert "has ended already: KEPT" in ended.err


def test_a_run_without_an_execution_is_to_be_cancelled_in_a_moment(
    relay: Relay, stack: Stack
) -> None:
    open_run(stack, status="STARTING")
    assert relay("cancel", RUN).code == 5


def test_a_failed_run_is_retried_as_a_new_run(relay: Relay, stack: Stack) -> None:
    open_run(stack, status="FAILED", reason="JobCrashed: x", ended_at=at(9))
    ended = relay("retry", RUN, "-o", "json")
    assert (ended.code, ended.json["retry_of"]) == (0, RUN)
    fresh = stack.ledger.runs.get(ended.json["run"])
    assert fresh is not None
    assert fresh.retry_of == RUN


def test_a_run_that_did_not_fail_is_not_retried(relay: Relay, stack: Stack) -> None:
    open_run(stack, status="KEPT", ended_at=at(9))
    ended = relay("retry", RUN)
    assert ended.code == 4
    assert "only failed or cancelled runs are retried" in ended.err


def test_a_planned_drop_keeps_its_run(stack: Stack) -> None:
    """The plan's form is what `show` counts rounds by; a change of it must show here."""
    drop = waiting_drop()
    plan = Plan(
        run=RUN,
        pipeline_version="0" * 64,
        pipeline=register(stack),
        drops=(
            PlannedDrop(
                id=drop.id,
                key=drop.key,
                version_id=drop.version_id,
                size=drop.size,
                accepted_at=drop.accepted_at,
            ),
        ),
        parent=None,
        created_at=T0,
    )
    stack.s3.put_object(Bucket=BUCKET, Key=layout.plan(RUN), Body=plan.to_bytes())
    open_run(stack)
    from relay.console.control_plane import find
    from relay.console.locating import Wish
    from relay.console.story_reading import StoryReader

    assert StoryReader(find(Wish()), RUN).read().rounds == 1
