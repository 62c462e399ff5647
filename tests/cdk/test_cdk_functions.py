"""The functions and what calls them."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthesis import ROOT, Template, flat, of_type, path_of, the

from lambdas.batch import LONGEST_S
from lambdas.decide.handler import RESERVE_S
from lambdas.logic.mark_plan import MARKING_S

NAMES = ("intake", "submit", "report", "decide", "sweep")


def test_there_are_five_functions_on_one_runtime_sharing_one_asset(template: Template) -> None:
    functions = of_type(template, "Lambda::Function")
    handlers = {one["Properties"]["Handler"] for one in functions.values()}
    assert handlers == {f"lambdas.{name}.handler.handler" for name in NAMES}
    assert {one["Properties"]["Runtime"] for one in functions.values()} == {"python3.13"}
    assert len({one["Properties"]["Code"]["S3Key"] for one in functions.values()}) == 1
    for one in functions.values():
        (layer,) = one["Properties"]["Layers"]
        assert flat(template, layer) == (
            "arn:aws:lambda:<AWS::Region>:017000801446:layer:"
            "AWSLambdaPowertoolsPythonV3-python313-arm64:27"
        )


def test_every_handler_that_the_stack_names_exists() -> None:
    assert [name for name in NAMES if not (ROOT / "lambdas" / name / "handler.py").exists()] == []


def test_the_asset_holds_the_two_packages_and_nothing_else(assembly: Path) -> None:
    (asset,) = assembly.glob("asset.*")
    inside = {path.relative_to(asset) for path in asset.rglob("*") if path.is_file()}
    packages = {
        path.relative_to(ROOT)
        for package in ("contracts", "lambdas")
        for path in (ROOT / package).rglob("*.py")
    }
    assert inside == packages


def test_functions_are_told_what_their_settings_need(template: Template) -> None:
    from lambdas.settings import Settings

    for function in of_type(template, "Lambda::Function").values():
        variables = {
            key: flat(template, value)
            for key, value in function["Properties"]["Environment"]["Variables"].items()
        }
        told = Settings.read(variables)
        assert told.bucket == "<Store/Bucket>"
        assert told.ledger_table == "<Ledger/Table>"
        assert told.job_queue_url == "<Jobs/Queue>"
        assert told.state_machine_arn.endswith(":stateMachine:Relay-runs")
        assert variables["POWERTOOLS_SERVICE_NAME"] == "relay"


@pytest.mark.parametrize(("function", "queue"), [("Intake", "Uploads"), ("Report", "Reports")])
def test_queues_are_read_in_batches_that_report_what_failed(
    template: Template, function: str, queue: str
) -> None:
    source = the(template, "Lambda::EventSourceMapping", f"/{function}/")
    assert flat(template, source["EventSourceArn"]) == f"<{queue}/Queue>"
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert source["BatchSize"] == 10
    assert source["MaximumBatchingWindowInSeconds"] == 0
    assert source["ScalingConfig"] == {"MaximumConcurrency": 10}


def test_sweep_is_called_each_minute_and_a_failed_call_is_kept(template: Template) -> None:
    rule = the(template, "Events::Rule", "/SweepEvery/")
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    (target,) = rule["Targets"]
    assert flat(template, target["Arn"]) == "<Sweep/Function>"
    assert flat(template, target["DeadLetterConfig"]["Arn"]) == "<MissedSweeps>"
    called = the(template, "Lambda::EventInvokeConfig")
    assert flat(template, called["FunctionName"]) == "<Sweep/Function>"
    assert called["MaximumRetryAttempts"] == 0
    destination = called["DestinationConfig"]["OnFailure"]["Destination"]
    assert flat(template, destination) == "<MissedSweeps>"
    assert the(template, "Lambda::Function", "/Sweep/")["Timeout"] < 60


def test_the_end_of_a_run_is_reported_whoever_ended_it(template: Template) -> None:
    rule = the(template, "Events::Rule", "/RunStatus/")
    machine = the(template, "StepFunctions::StateMachine")["StateMachineName"]
    pattern = rule["EventPattern"]
    assert pattern["source"] == ["aws.states"]
    assert pattern["detail-type"] == ["Step Functions Execution Status Change"]
    assert pattern["detail"]["status"] == ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]
    (arn,) = pattern["detail"]["stateMachineArn"]
    assert flat(template, arn).endswith(f":stateMachine:{machine}")
    (target,) = rule["Targets"]
    assert flat(template, target["Arn"]) == "<Reports/Queue>"
    assert flat(template, target["DeadLetterConfig"]["Arn"]) == "<Reports/DeadLetters>"


@pytest.mark.parametrize("queue", ["Queue", "DeadLetters"])
def test_the_status_rule_and_no_other_may_send(template: Template, queue: str) -> None:
    policy = the(template, "SQS::QueuePolicy", f"/Reports/{queue}/")["PolicyDocument"]
    (statement,) = [
        one
        for one in policy["Statement"]
        if one["Principal"] == {"Service": "events.amazonaws.com"}
    ]
    named = the(template, "Events::Rule", "/RunStatus/")["Name"]
    like = flat(template, statement["Condition"]["ArnLike"]["aws:SourceArn"])
    assert like == f"arn:<AWS::Partition>:events:<AWS::Region>:<AWS::AccountId>:rule/{named}"
    assert "aws:SourceAccount" in statement["Condition"]["StringEquals"]


def test_every_function_logs_to_a_group_of_its_own(template: Template) -> None:
    groups = {}
    for name, function in of_type(template, "Lambda::Function").items():
        group = flat(template, function["Properties"]["LoggingConfig"]["LogGroup"])
        groups[path_of(template, name)] = group
        assert function["Properties"]["TracingConfig"] == {"Mode": "Active"}
    assert groups == {
        f"{name.capitalize()}/Function": f"<{name.capitalize()}/Log>" for name in NAMES
    }


def test_nothing_is_made_by_a_custom_resource(template: Template) -> None:
    kinds = {resource["Type"] for resource in template["Resources"].values()}
    assert not [kind for kind in kinds if kind.startswith("Custom::") or "CustomResource" in kind]


def test_the_outputs_are_those_that_the_tool_reads(template: Template) -> None:
    assert set(template["Outputs"]) == {
        "Bucket",
        "LedgerTable",
        "StateMachineArn",
        "UploadsQueueUrl",
        "UploadsDeadLetterQueueUrl",
        "ReportsQueueUrl",
        "ReportsDeadLetterQueueUrl",
        "JobQueueUrl",
        "JobRoleArn",
        "AgentRoleArn",
        "WorkspaceRoot",
        "ProgressIntervalS",
    }
    assert template["Outputs"]["WorkspaceRoot"]["Value"] == "/fsx/relay"
    assert template["Outputs"]["ProgressIntervalS"]["Value"] == "15"


def test_functions_have_the_time_that_their_work_is_bounded_by(template: Template) -> None:
    """A message is begun with its longest work ahead, a plan's last step with its reserve."""
    functions = [one["Properties"] for one in of_type(template, "Lambda::Function").values()]
    time_s = {one["Handler"].split(".")[1]: one["Timeout"] for one in functions}
    for name in ("intake", "report"):
        assert time_s[name] >= LONGEST_S + 5
    assert MARKING_S < LONGEST_S
    assert time_s["decide"] >= 5 * RESERVE_S
