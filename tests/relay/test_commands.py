"""The commands end to end, against an embedded AWS that holds a control plane's parts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import boto3
import pytest
from botocore.exceptions import ClientError
from job_objects import BUCKET
from stories import EVALUATED, RUN, T0, at, attempt, record, result

from contracts import layout, ledger
from contracts.artifact import MANIFEST, ArtifactRef, FileEntry, Manifest
from contracts.ledger import DropRecord, Lease, RunRecord
from contracts.model import digest
from contracts.names import AttemptKey, drop_id
from contracts.pipeline import Pipeline
from contracts.plan import Plan, PlannedDrop
from contracts.policy import PolicyVersion
from contracts.rejection import Rejection
from contracts.result import PhaseOutput, Problem
from lambdas.ledger.ledger import Ledger
from lambdas.ledger.table import Table
from relay.__main__ import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "preferences"
ROLE = "arn:aws:iam::123456789012:role/any"


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Stack(NamedTuple):
    s3: Any
    sfn: Any
    ledger: Ledger
    table: Table
    machine: str


@pytest.fixture
def stack(
    s3: Any, cloudformation: CloudFormation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Stack:
    """A stack by the name of Relay, found by itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RELAY_STACK", raising=False)
    monkeypatch.delenv("RELAY_LOCAL", raising=False)
    dynamodb, sfn = boto3.client("dynamodb"), boto3.client("stepfunctions")
    dynamodb.create_table(
        TableName="ledger",
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    definition = json.dumps({"StartAt": "W", "States": {"W": {"Type": "Succeed"}}})
    machine = sfn.create_state_machine(name="Relay-runs", definition=definition, roleArn=ROLE)
    outputs = {
        "Bucket": BUCKET,
        "LedgerTable": "ledger",
        "StateMachineArn": machine["stateMachineArn"],
        "UploadsQueueUrl": "https://q/uploads",
        "UploadsDeadLetterQueueUrl": "https://q/uploads-dead",
        "ReportsQueueUrl": "https://q/reports",
        "ReportsDeadLetterQueueUrl": "https://q/reports-dead",
        "JobQueueUrl": "https://q/jobs",
        "JobRoleArn": ROLE,
        "AgentRoleArn": ROLE,
        "WorkspaceRoot": "/fsx/relay",
        "ProgressIntervalS": "15",
    }
    cloudformation.stacks["Relay"] = outputs
    table = Table(dynamodb, "ledger")
    return Stack(s3, sfn, Ledger(table), table, machine["stateMachineArn"])


class CloudFormation:
    """Knows stacks by their outputs. (The embedded AWS has CloudFormation only as an extra.)"""

    def __init__(self) -> None:
        self.stacks: dict[str, dict[str, str]] = {}

    def describe_stacks(self, StackName: str) -> dict[str, Any]:
        if StackName not in self.stacks:
            said = {"Code": "ValidationError", "Message": f"{StackName} does not exist"}
            raise ClientError({"Error": said}, "DescribeStacks")
        outputs = [
            {"OutputKey": key, "OutputValue": value}
            for key, value in self.stacks[StackName].items()
        ]
        return {"Stacks": [{"StackStatus": "CREATE_COMPLETE", "Outputs": outputs}]}


@pytest.fixture
def cloudformation(monkeypatch: pytest.MonkeyPatch) -> CloudFormation:
    made = CloudFormation()

    class Session(boto3.Session):
        def client(self, service: str, **given: Any) -> Any:
            return made if service == "cloudformation" else super().client(service, **given)

    monkeypatch.setattr("relay.console.control_plane.boto3.Session", Session)
    return made


@pytest.fixture
def relay(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Run the command line; how it ended and what it printed."""

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["relay", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, out, err)

    return run


Relay = Callable[..., Ended]


def register(stack: Stack) -> Pipeline:
    pipeline = Pipeline.model_validate(
        {"name": "preferences", "rounds": [{"optimize": {"algorithm": "dpo"}}]}
    )
    stack.s3.put_object(Bucket=BUCKET, Key=layout.pipeline("preferences"), Body=pipeline.to_bytes())
    return pipeline


def open_run(stack: Stack, **changed: Any) -> RunRecord:
    made = record(**changed)
    stack.ledger.pipelines.note("preferences")
    stack.table.write(stack.table.put(ledger.run_key(made.run), ledger.attributes(made)))
    stack.table.write(
        stack.table.put(ledger.listing_key(made.pipeline, made.run), {"run": made.run})
    )
    return made


def start_execution(stack: Stack, run: str = RUN) -> str:
    started = stack.sfn.start_execution(stateMachineArn=stack.machine, name=run, input="{}")
    arn: str = started["executionArn"]
    return arn


# finding the control plane


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


# pipelines


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


def test_a_pipeline_is_shown_with_its_defaults(relay: Relay, stack: Stack) -> None:
    register(stack)
    ended = relay("pipelines", "show", "preferences", "-o", "json")
    assert ended.json["pipeline"]["attempts"] == 3
    assert ended.json["waiting"] == 0
    assert "attempts: 3" in relay("pipelines", "show", "preferences").out
    assert relay("pipelines", "show", "nobody").code == 3


def pause(stack: Stack) -> None:
    key = ledger.pipeline_key("preferences")
    stack.table.write(stack.table.update(key, set_={"name": "preferences", "paused": True}))


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


# validating


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


# dropping


def waiting_drop(**changed: Any) -> DropRecord:
    fields = {
        "id": "d" * 32,
        "pipeline": "preferences",
        "key": "incoming/preferences/x",
        "version_id": "v",
        "size": 3,
        "status": "waiting",
        "accepted_at": T0,
    }
    return DropRecord.model_validate({**fields, **changed})


def rejection(**changed: Any) -> Rejection:
    fields = {
        "bucket": BUCKET,
        "key": "incoming/preferences/x",
        "version_id": "v",
        "refused_by": "intake",
        "reason": "it is not JSON",
        "remedy": "upload JSON",
        "at": T0,
    }
    return Rejection.model_validate({**fields, **changed})


def test_a_drop_is_a_plain_object_below_incoming(relay: Relay, stack: Stack) -> None:
    Path("pairs 1+2.jsonl").write_text("{}")
    ended = relay("drop", "pairs 1+2.jsonl", "--pipeline", "preferences", "-o", "json")
    assert ended.code == 0
    key = "incoming/preferences/pairs 1+2.jsonl"
    there = stack.s3.get_object(Bucket=BUCKET, Key=key)
    assert there["Body"].read() == b"{}"
    assert ended.json == {
        "id": drop_id(BUCKET, key, there["VersionId"]),
        "pipeline": "preferences",
        "bucket": BUCKET,
        "key": key,
        "version_id": there["VersionId"],
    }


def test_a_drop_may_have_another_name_and_a_missing_file_is_wrong_usage(relay: Relay) -> None:
    Path("x").write_text("{}")
    ended = relay("drop", "x", "--pipeline", "preferences", "--as", "y/z", "-o", "json")
    assert ended.json["key"] == "incoming/preferences/y/z"
    assert relay("drop", "nothing", "--pipeline", "preferences").code == 2


def on_put(stack: Stack, monkeypatch: pytest.MonkeyPatch, then: Callable[[str], None]) -> None:
    """Do what the functions would, as soon as a file is put; `then` gets its drop id."""
    from relay.console import dropping

    put = dropping.put

    def put_and_react(plane: Any, file: Path, pipeline: str, name: str) -> dropping.Dropped:
        dropped = put(plane, file, pipeline, name)
        then(dropped.version_id)
        return dropped

    monkeypatch.setattr(dropping, "put", put_and_react)


def test_waiting_for_a_refused_drop_shows_the_report_and_ends_with_1(
    relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(version: str) -> None:
        key = "incoming/preferences/x"
        report = rejection(version_id=version)
        place = layout.rejection("preferences", "x", version)
        stack.s3.put_object(Bucket=BUCKET, Key=place, Body=report.to_bytes())
        stack.ledger.drops.record_rejected(
            waiting_drop(id=drop_id(BUCKET, key, version), version_id=version, status="rejected")
        )

    Path("x").write_text("not json")
    on_put(stack, monkeypatch, refuse)
    ended = relay("drop", "x", "--pipeline", "preferences", "--wait", "-o", "json")
    assert ended.code == 1
    assert ended.json["outcome"] == "REJECTED"
    assert ended.json["rejection"]["reason"] == "it is not JSON"
    ended = relay("drop", "x", "--pipeline", "preferences", "--wait")
    assert "refused by intake: it is not JSON" in ended.out
    assert "upload JSON" in ended.out


@pytest.mark.parametrize(
    ("status", "code"), [("PUBLISHED", 0), ("KEPT", 0), ("FAILED", 1), ("NO_DATA", 1)]
)
def test_waiting_for_a_drop_ends_as_its_run_does(
    relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch, status: str, code: int
) -> None:
    def run(version: str) -> None:
        key = "incoming/preferences/x"
        drop = waiting_drop(id=drop_id(BUCKET, key, version), version_id=version)
        stack.ledger.drops.record_waiting(drop)
        assert stack.ledger.drops.mark_planned(drop, RUN)

    ended_run = open_run(stack, status=status, reason="as it went", ended_at=at(9))
    lease = Lease(pipeline="preferences", run=ended_run.run, acquired_at=T0)
    stack.table.write(stack.table.put(ledger.lease_key("preferences"), ledger.attributes(lease)))
    Path("x").write_text("{}")
    on_put(stack, monkeypatch, run)
    ended = relay("drop", "x", "--pipeline", "preferences", "--wait", "-o", "json")
    assert (ended.code, ended.json["outcome"]) == (code, status)
    assert ended.json["run"]["run"] == RUN
    assert f"{status}: as it went" in ended.err


def test_waiting_at_a_paused_pipeline_says_how_to_go_on(
    relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def accept(version: str) -> None:
        drop = drop_id(BUCKET, "incoming/preferences/x", version)
        stack.ledger.drops.record_waiting(waiting_drop(id=drop, version_id=version))

    pause(stack)
    Path("x").write_text("{}")
    on_put(stack, monkeypatch, accept)
    ended = relay("drop", "x", "--pipeline", "preferences", "--wait")
    assert ended.code == 4
    assert "relay pipelines resume preferences" in ended.err


def test_drops_lists_what_waits_and_what_was_refused(relay: Relay, stack: Stack) -> None:
    stack.ledger.drops.record_waiting(waiting_drop())
    problem = Problem(line=3, field="chosen", problem="is missing", remedy="add it")
    report = rejection(refused_by="collect", problems=(problem,), problem_count=1)
    place = layout.rejection("preferences", "x", "v")
    stack.s3.put_object(Bucket=BUCKET, Key=place, Body=report.to_bytes())
    found = relay("drops", "--pipeline", "preferences", "-o", "json").json
    assert [one["id"] for one in found["waiting"]] == ["d" * 32]
    assert found["rejected"][0]["problems"][0]["line"] == 3
    assert "it is not JSON" in relay("drops", "--pipeline", "preferences").out


# runs


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


# policies


def publish(stack: Stack, files: dict[str, bytes]) -> PolicyVersion:
    prefix = layout.policy("preferences", RUN)
    for name, body in files.items():
        stack.s3.put_object(Bucket=BUCKET, Key=f"{prefix}{name}", Body=body)
    entries = tuple(
        FileEntry(path=name, size=len(body), sha256=digest(body)) for name, body in files.items()
    )
    manifest = Manifest(kind="checkpoint", run=RUN, step=1, files=entries).to_bytes()
    stack.s3.put_object(Bucket=BUCKET, Key=f"{prefix}{MANIFEST}", Body=manifest)
    version = PolicyVersion(
        pipeline="preferences",
        version=0,
        policy=ArtifactRef(
            kind="checkpoint", uri=layout.s3_uri(BUCKET, prefix), manifest=digest(manifest)
        ),
        run=RUN,
        parent=None,
        pipeline_version="0" * 64,
        drops=1,
        plan_key=layout.plan(RUN),
        metrics={"end_accuracy": 0.9},
        created_at=T0,
    )
    assert stack.ledger.policies.publish(version)
    return version


FILES = {"config.json": b"{}", "deep/model.safetensors": b"weights"}


def test_policies_are_listed_with_the_current_one_marked(relay: Relay, stack: Stack) -> None:
    publish(stack, FILES)
    found = relay("policies", "preferences", "-o", "json").json
    assert [(one["version"], one["current"]) for one in found] == [(0, True)]
    assert "v0 (current)" in relay("policies", "preferences").out
    assert relay("policies", "nobody").code == 3


@pytest.mark.parametrize("version", ["0", "v0", "current"])
def test_a_policy_is_fetched_whole(relay: Relay, stack: Stack, version: str) -> None:
    publish(stack, FILES)
    ended = relay("policies", "preferences", "--download", version, "a/new/folder", "-o", "json")
    assert (ended.code, ended.json["bytes"]) == (0, 9)
    found = {
        str(path.relative_to("a/new/folder")): path.read_bytes()
        for path in Path("a/new/folder").rglob("*")
        if path.is_file()
    }
    assert found == FILES
    assert [path.name for path in Path("a/new").iterdir()] == ["folder"]


def test_a_version_that_is_not_there_is_not_found(relay: Relay, stack: Stack) -> None:
    publish(stack, FILES)
    assert relay("policies", "preferences", "--download", "7", "f").code == 3


def test_a_folder_that_holds_something_is_left_alone(relay: Relay, stack: Stack) -> None:
    publish(stack, FILES)
    Path("f").mkdir()
    Path("f/mine").write_text("x")
    ended = relay("policies", "preferences", "--download", "current", "f")
    assert ended.code == 4
    assert [path.name for path in Path("f").iterdir()] == ["mine"]


@pytest.mark.parametrize("name", ["config.json", MANIFEST])
def test_a_damaged_policy_leaves_no_folder(relay: Relay, stack: Stack, name: str) -> None:
    publish(stack, FILES)
    key = f"{layout.policy('preferences', RUN)}{name}"
    stack.s3.put_object(Bucket=BUCKET, Key=key, Body=b"!}")
    ended = relay("policies", "preferences", "--download", "current", "f")
    assert ended.code == 1
    assert name in ended.err
    assert not Path("f").exists()
    assert list(Path.cwd().iterdir()) == []


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
