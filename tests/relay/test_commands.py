"""Finding the control plane, `relay pipelines` and `relay validate`."""

from __future__ import annotations

from pathlib import Path

import pytest
from control_planes import CloudFormation, Relay, Stack, pause, register, waiting_drop
from job_objects import BUCKET

from contracts import layout
from contracts.model import digest
from contracts.pipeline import Pipeline

EXAMPLE = Path(__file__).parents[2] / "examples" / "preferences"


def test_a_missing_stack_is_not_found_and_the_line_says_what_to_do(relay: Relay) -> None:
    ended = relay("runs", "--stack", "Nowhere")
    assert ended.code == 3
    assert ended.out == ""
    assert ended.err.startswith("relay: there is no stack Nowhere here: `relay local up`")
    assert ended.err.count("\n") == 1


def test_a_stack_that_is_something_else_is_told_by_what_it_lacks(
    relay: Relay, cloudformation: CloudFormation
) -> None:
    cloudformation.stacks["Other"] = {"Bucket": "b"}
    ended = relay("runs", "--stack", "Other")
    assert ended.code == 3
    assert "not a Relay control plane: its outputs lack LedgerTable" in ended.err


def test_the_stacks_name_may_come_from_the_environment(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_STACK", "Elsewhere")
    assert "no stack Elsewhere" in relay("runs").err


def test_data_goes_to_stdout_and_talk_to_stderr(relay: Relay) -> None:
    ended = relay("runs", "--output", "json")
    assert (ended.code, ended.json) == (0, [])
    assert "using stack Relay in AWS" in ended.err


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["show"], ["runs", "--limit", "0"], ["show", "x", "--output", "xml"]]
)
def test_wrong_usage_ends_with_2(relay: Relay, arguments: list[str]) -> None:
    assert relay(*arguments).code == 2


def test_a_pipeline_is_registered_then_unchanged_then_updated(relay: Relay, stack: Stack) -> None:
    file = str(EXAMPLE / "pipeline.yaml")
    first = relay("pipelines", "apply", file, "-o", "json")
    assert (first.code, first.json["outcome"]) == (0, "registered")
    key = layout.pipeline("preferences")
    body = stack.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    assert digest(body) == first.json["version"]
    assert Pipeline.from_bytes(body, where=key).to_bytes() == body
    assert relay("pipelines", "apply", file, "-o", "json").json["outcome"] == "unchanged"
    assert len(stack.s3.list_object_versions(Bucket=BUCKET, Prefix=key)["Versions"]) == 1
    other = Path("other.yaml")
    other.write_text(Path(file).read_text().replace("attempts: 3", "attempts: 2"))
    updated = relay("pipelines", "apply", str(other), "-o", "json").json
    assert updated["outcome"] == "updated"
    assert updated["changes"] == [{"field": "attempts", "before": 3, "after": 2}]


def test_a_dry_run_changes_nothing(relay: Relay, stack: Stack) -> None:
    ended = relay("pipelines", "apply", str(EXAMPLE / "pipeline.yaml"), "--dry-run")
    assert (ended.code, ended.out.startswith("preferences would be registered")) == (0, True)
    assert "Contents" not in stack.s3.list_objects_v2(Bucket=BUCKET)


def test_a_faulty_pipeline_is_refused_by_file_line_and_field(relay: Relay) -> None:
    file = Path("wrong.yaml")
    file.write_text("name: x\nrounds:\n  - optimize:\n      algorithm: dpo\n      stepz: 3\n")
    ended = relay("pipelines", "apply", str(file), "-o", "json")
    assert ended.code == 1
    assert "wrong.yaml:5:7: rounds.0.optimize.stepz: is not a field; did you mean steps?" in (
        ended.err
    )
    assert [one["line"] for one in ended.json["problems"]] == [5]


def test_pipelines_are_listed_registered_or_dropped_into(relay: Relay, stack: Stack) -> None:
    register(stack)
    stack.ledger.pipelines.note("unregistered")
    found = relay("pipelines", "list", "-o", "json").json
    assert [(one["name"], one["registered"]) for one in found] == [
        ("preferences", True),
        ("unregistered", False),
    ]
    assert "not registered" in relay("pipelines", "list").out


def test_a_recipe_that_cannot_be_read_hides_no_other(relay: Relay, stack: Stack) -> None:
    register(stack)
    for name, body in {"broken": b"{", "other": b"[]", "deep": b"[" * 100_000}.items():
        stack.s3.put_object(Bucket=BUCKET, Key=layout.pipeline(name), Body=body)
    ended = relay("pipelines", "list", "-o", "json")
    assert ended.code == 0, ended.err
    assert {one["name"]: bool(one["unreadable"]) for one in ended.json} == {
        "broken": True, "deep": True, "other": True, "preferences": False,
    }  # fmt: skip
    assert "unreadable: " in relay("pipelines", "list").out


def test_a_pipeline_is_shown_with_its_defaults(relay: Relay, stack: Stack) -> None:
    register(stack)
    ended = relay("pipelines", "show", "preferences", "-o", "json")
    assert ended.json["pipeline"]["attempts"] == 3
    assert ended.json["waiting"] == 0
    assert "attempts: 3" in relay("pipelines", "show", "preferences").out
    assert relay("pipelines", "show", "nobody").code == 3


def test_resuming_unpauses_and_starts_a_run_for_what_waits(relay: Relay, stack: Stack) -> None:
    register(stack)
    pause(stack)
    stack.ledger.drops.record_waiting(waiting_drop())
    ended = relay("pipelines", "resume", "preferences", "-o", "json").json
    assert ended["outcome"] == "resumed"
    assert stack.ledger.runs.get(ended["run"]) is not None
    assert stack.sfn.list_executions(stateMachineArn=stack.machine)["executions"]
    again = relay("pipelines", "resume", "preferences", "-o", "json").json
    assert again == {"name": "preferences", "outcome": "not_paused", "run": ended["run"]}


def test_a_file_that_can_be_learnt_from_is_ok(relay: Relay) -> None:
    ended = relay("validate", str(EXAMPLE / "pairs.jsonl"), "-o", "json")
    assert (ended.code, ended.json["ok"], ended.json["usable"]) == (0, True, 640)
    assert "using" not in ended.err, "nothing is asked of a control plane"


def test_a_file_without_a_usable_record_is_told_by_line(relay: Relay) -> None:
    Path("bad.jsonl").write_text('{"prompt": "a", "chosen": "b", "rejected": "b"}\n')
    ended = relay("validate", "bad.jsonl", "-o", "json")
    assert ended.code == 1
    assert ended.json["problems"][0]["line"] == 1
    assert "What to do:" in relay("validate", "bad.jsonl").out


def test_a_pipelines_own_rules_count_by_file_and_by_name(relay: Relay, stack: Stack) -> None:
    register(stack)
    file = str(EXAMPLE / "pairs.jsonl")
    by_file = relay(
        "validate", file, "--pipeline", str(EXAMPLE / "pipeline.yaml"), "-o", "json"
    ).json
    by_name = relay("validate", file, "--pipeline", "preferences", "-o", "json").json
    assert by_file["held_out"] > by_name["held_out"], "a share of 0.25 against 0.2"
    assert relay("validate", file, "--pipeline", "nobody").code == 3
