"""The state machine: a sentence, with patience and typed errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from synthesis import Template, flat, the

from contracts.decision import EndAnswer, PlanAnswer, StepAnswer
from contracts.errors import FencedError, PermanentError, TransientError, names_below
from contracts.model import Contract
from contracts.question import Question, RunState
from contracts.result import PhaseOutput

Machine = dict[str, Any]
PHASES = {
    "Collect rollouts": "collect",
    "Optimize policy": "optimize",
    "Evaluate policy": "evaluate",
}
QUESTIONS: dict[str, tuple[str, str, type[Contract]]] = {
    "Plan run": ("plan", "$.plan", PlanAnswer),
    "Decide": ("next", "$.decision", StepAnswer),
    "Publish policy": ("publish", "$.end", EndAnswer),
    "Keep current policy": ("keep", "$.end", EndAnswer),
}


def _tasks(machine: Machine) -> dict[str, Any]:
    return {name: state for name, state in machine["States"].items() if state["Type"] == "Task"}


def _edges(machine: Machine) -> set[tuple[str, str]]:
    def ends(state: dict[str, Any]) -> Iterator[str]:
        yield from (state[key] for key in ("Next", "Default") if key in state)
        yield from (choice["Next"] for choice in state.get("Choices", []))

    return {(name, end) for name, state in machine["States"].items() for end in ends(state)}


def test_the_graph_reads_as_the_design_says(machine: Machine) -> None:
    assert machine["StartAt"] == "Gather drops"
    assert _edges(machine) == {
        ("Gather drops", "Plan run"),
        ("Plan run", "Anything to do?"),
        ("Anything to do?", "Start round"),
        ("Anything to do?", "Keep current policy"),
        ("Start round", "Collect rollouts"),
        ("Collect rollouts", "Usable data?"),
        ("Usable data?", "Optimize policy"),
        ("Usable data?", "Keep current policy"),
        ("Optimize policy", "Evaluate policy"),
        ("Evaluate policy", "Decide"),
        ("Decide", "What next?"),
        ("What next?", "Publish policy"),
        ("What next?", "Keep current policy"),
        ("What next?", "Next round"),
        ("Next round", "Collect rollouts"),
        ("Publish policy", "Policy published"),
        ("Keep current policy", "Policy kept"),
    }


def test_a_run_of_one_round_enters_twelve_states(machine: Machine) -> None:
    """What a run costs is a matter of these; `docs/costs.md` counts on it."""
    entered, state = 1, machine["States"][machine["StartAt"]]
    while state["Type"] != "Succeed":
        publishes = [one["Next"] for one in state.get("Choices", []) if "Publish" in one["Next"]]
        following = publishes[0] if publishes else state.get("Next") or state["Default"]
        state = machine["States"][following]
        entered += 1
    assert entered == 12


def test_every_state_and_the_machine_say_what_they_are_for(machine: Machine) -> None:
    assert machine["Comment"]
    assert [name for name, state in machine["States"].items() if not state.get("Comment")] == []


def test_the_words_that_choices_compare_are_those_of_the_contracts(machine: Machine) -> None:
    known = {
        "$.plan.outcome": PlanAnswer.model_json_schema()["properties"]["outcome"]["enum"],
        "$.collect.outcome": PhaseOutput.model_json_schema()["properties"]["outcome"]["enum"],
        "$.decision.next": StepAnswer.model_json_schema()["properties"]["next"]["enum"],
    }
    compared = [
        (choice["Variable"], choice["StringEquals"])
        for state in machine["States"].values()
        for choice in state.get("Choices", [])
    ]
    assert len(compared) == 4
    assert [pair for pair in compared if pair[1] not in known[pair[0]]] == []


def test_phases_wait_for_their_token_as_long_as_the_plan_says(machine: Machine) -> None:
    for name, phase in PHASES.items():
        state = machine["States"][name]
        assert state["Resource"].endswith(":states:::lambda:invoke.waitForTaskToken")
        assert state["Parameters"]["FunctionName"] == "<Submit/Function>"
        assert state["HeartbeatSecondsPath"] == "$.plan.heartbeat_s"
        assert state["TimeoutSecondsPath"] == "$.plan.timeout_s"
        assert state["ResultPath"] == f"$.{phase}"
    assert {"heartbeat_s", "timeout_s"} <= set(PlanAnswer.model_fields)


def test_phases_are_told_who_they_are_and_what_came_before(machine: Machine) -> None:
    inputs: dict[str, dict[str, object]] = {
        "collect": {"inputs.$": "$.inputs"},
        "optimize": {"inputs": {"collect.$": "$.collect"}},
        "evaluate": {"inputs": {"collect.$": "$.collect", "optimize.$": "$.optimize"}},
    }
    for name, phase in PHASES.items():
        assert machine["States"][name]["Parameters"]["Payload"] == {
            "run.$": "$.run",
            "pipeline.$": "$.pipeline",
            "round.$": "$.round",
            "phase": phase,
            "token.$": "$$.Task.Token",
            **inputs[phase],
        }


def test_a_round_carries_on_only_what_it_needs(machine: Machine) -> None:
    carried = {"run.$": "$.run", "pipeline.$": "$.pipeline", "plan.$": "$.plan"}
    states = machine["States"]
    assert states["Start round"]["Parameters"] == {
        **carried,
        "round.$": "$.plan.round",
        "inputs": {},
    }
    assert states["Next round"]["Parameters"] == {
        **carried,
        "round.$": "$.decision.round",
        "inputs": {"optimize.$": "$.optimize"},
    }


def test_decide_is_asked_with_the_whole_state_and_answers_by_contract(machine: Machine) -> None:
    assert set(Question.model_fields) == {"question", "state"}
    for name, (question, path, answer) in QUESTIONS.items():
        state = machine["States"][name]
        assert state["Resource"].endswith(":states:::lambda:invoke")
        assert state["Parameters"]["FunctionName"] == "<Decide/Function>"
        assert state["Parameters"]["Payload"] == {"question": question, "state.$": "$"}
        assert state["ResultPath"] == path
        fields = {f"{field}.$": f"$.Payload.{field}" for field in answer.model_fields}
        assert state["ResultSelector"] == fields
    written = {state["ResultPath"].removeprefix("$.") for state in _tasks(machine).values()}
    assert written - {"end"} <= set(RunState.model_fields)


def test_every_task_has_a_timeout_and_those_of_decide_outlast_the_function(
    machine: Machine, template: Template
) -> None:
    assert set(_tasks(machine)) == set(PHASES) | set(QUESTIONS)
    limit = the(template, "Lambda::Function", "/Decide/")["Timeout"]
    for name in QUESTIONS:
        assert machine["States"][name]["TimeoutSeconds"] > limit


def test_retries_have_full_jitter_and_an_upper_bound(machine: Machine) -> None:
    for state in _tasks(machine).values():
        for retry in state["Retry"]:
            assert retry["JitterStrategy"] == "FULL"
            assert retry["MaxAttempts"] <= 200
            assert retry["IntervalSeconds"] < retry["MaxDelaySeconds"] <= 60


def test_a_phase_waits_patiently_for_the_job_before(machine: Machine) -> None:
    for name in PHASES:
        first = machine["States"][name]["Retry"][0]
        assert first["ErrorEquals"] == ["PreviousJobStillRunning"]
        assert (first["IntervalSeconds"], first["BackoffRate"]) == (5, 1.5)
        assert (first["MaxDelaySeconds"], first["MaxAttempts"]) == (60, 200)
        # With full jitter half the delay on average; HyperPod's repairs take up to 90 minutes.
        assert first["MaxDelaySeconds"] / 2 * first["MaxAttempts"] >= 90 * 60


def test_a_missed_heartbeat_is_matched_before_a_timeout(machine: Machine) -> None:
    for name in PHASES:
        listed = [retry["ErrorEquals"] for retry in machine["States"][name]["Retry"]]
        assert listed.index(["States.HeartbeatTimeout"]) < listed.index(["States.Timeout"])


def test_what_is_retried_are_the_transient_errors_of_the_contracts(machine: Machine) -> None:
    for state in _tasks(machine).values():
        errors = [error for retry in state["Retry"] for error in retry["ErrorEquals"]]
        assert len(errors) == len(set(errors))
        ours = {error for error in errors if "." not in error}
        assert ours == set(names_below(TransientError))
        assert ours.isdisjoint(names_below(PermanentError) + names_below(FencedError))
        assert "States.ALL" not in errors


def test_a_function_that_did_not_come_to_its_end_is_called_again(machine: Machine) -> None:
    """Its process was killed, as for memory or with the local stack, or its time was over."""
    for state in _tasks(machine).values():
        errors = {error for retry in state["Retry"] for error in retry["ErrorEquals"]}
        assert {"Runtime.ExitError", "Sandbox.Timedout", "Lambda.Unknown"} <= errors


def test_a_phase_may_use_every_job_that_a_pipeline_can_ask_for(machine: Machine) -> None:
    from contracts.pipeline import Pipeline

    asked = Pipeline.model_json_schema()["properties"]["attempts"]["maximum"]
    for name in PHASES:
        retries = {tuple(one["ErrorEquals"]): one for one in machine["States"][name]["Retry"]}
        for errors in (("States.HeartbeatTimeout",), ("States.Timeout",)):
            assert retries[errors]["MaxAttempts"] == asked - 1
        (jobs,) = [one for errors, one in retries.items() if "JobCrashed" in errors]
        assert jobs["MaxAttempts"] == asked - 1


def test_every_error_ends_in_the_same_failure_with_its_name_and_cause(machine: Machine) -> None:
    for state in _tasks(machine).values():
        assert state["Catch"] == [
            {"ErrorEquals": ["States.ALL"], "ResultPath": "$.failure", "Next": "Run failed"}
        ]
    failed = machine["States"]["Run failed"]
    assert failed["Type"] == "Fail"
    assert failed["ErrorPath"] == "$.failure.Error"
    assert failed["CausePath"] == "$.failure.Cause"


def test_the_machine_is_traced_and_logged_without_the_data_that_holds_tokens(
    template: Template,
) -> None:
    properties = the(template, "StepFunctions::StateMachine")
    assert properties["StateMachineName"] == "Relay-runs"
    assert properties["TracingConfiguration"] == {"Enabled": True}
    logging = properties["LoggingConfiguration"]
    assert logging["Level"] == "ALL"
    assert logging["IncludeExecutionData"] is False
    name = the(template, "Logs::LogGroup", "/Runs/")["LogGroupName"]
    assert str(name).startswith("{'Fn::Join': ['', ['/aws/vendedlogs/states/Relay-runs-'")
    (destination,) = logging["Destinations"]
    assert flat(template, destination["CloudWatchLogsLogGroup"]["LogGroupArn"]) == "<Runs/Log>"
