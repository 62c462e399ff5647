"""Who may do what: golden lists, so that a new right is a decision somebody sees."""

from __future__ import annotations

from typing import Any

import pytest
from synthesis import Template, flat, of_type, the

LEDGER = (
    "dynamodb:ConditionCheckItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem "
    "dynamodb:Query dynamodb:UpdateItem on <Ledger/Table>"
)
TRACE = "xray:PutTelemetryRecords xray:PutTraceSegments on *"
START = (
    "states:StartExecution on "
    "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:stateMachine:Relay-runs"
)
SEE = (
    "states:DescribeExecution on "
    "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:Relay-runs:*"
)
ANSWER = "states:SendTaskFailure states:SendTaskHeartbeat states:SendTaskSuccess on *"
RING = "sqs:SendMessage on <Jobs/Queue>"
SEE_SETS = "s3:ListBucketVersions on <Store/Bucket> if s3:prefix is incoming/*"
POLL = "sqs:DeleteMessage sqs:GetQueueAttributes sqs:ReceiveMessage on"
MISS = "s3:ListBucket on <Store/Bucket> if s3:prefix is"


def _objects(*patterns: str) -> str:
    return " ".join(f"<Store/Bucket>/{pattern}" for pattern in patterns)


GOLDEN = {
    "Intake": [
        "logs:CreateLogStream logs:PutLogEvents on <Intake/Log>",
        TRACE,
        f"{POLL} <Uploads/Queue>",
        f"s3:GetObject s3:GetObjectVersion on {_objects('incoming/*', 'pipelines/*')}",
        f"{MISS} incoming/* pipelines/*",
        SEE_SETS,
        f"s3:PutObject on {_objects('rejected/*')}",
        LEDGER,
        START,
    ],
    "Submit": [
        "logs:CreateLogStream logs:PutLogEvents on <Submit/Log>",
        TRACE,
        f"s3:GetObject on {_objects('runs/*')}",
        f"{MISS} runs/*",
        f"s3:PutObject on {_objects('runs/*')}",
        LEDGER,
        RING,
        "states:SendTaskSuccess on *",
    ],
    "Report": [
        "logs:CreateLogStream logs:PutLogEvents on <Report/Log>",
        TRACE,
        f"{POLL} <Reports/Queue>",
        f"s3:GetObject on {_objects('runs/*')}",
        f"{MISS} runs/*",
        f"s3:PutObject on {_objects('rejected/*', 'runs/*')}",
        LEDGER,
        ANSWER,
        START,
        SEE,
    ],
    "Decide": [
        "logs:CreateLogStream logs:PutLogEvents on <Decide/Log>",
        TRACE,
        f"s3:GetObject on {_objects('pipelines/*', 'policies/*', 'runs/*')}",
        f"{MISS} pipelines/* policies/* runs/*",
        SEE_SETS,
        "s3:PutObject on " + _objects("policies/*/current.json", "rejected/*", "runs/*/plan.json"),
        LEDGER,
    ],
    "Sweep": [
        "logs:CreateLogStream logs:PutLogEvents on <Sweep/Log>",
        TRACE,
        f"s3:GetObject on {_objects('runs/*')}",
        f"{MISS} runs/*",
        SEE_SETS,
        f"s3:PutObject on {_objects('rejected/*', 'runs/*')}",
        LEDGER,
        RING,
        "sqs:SendMessage on <MissedSweeps>",
        ANSWER,
        START,
        SEE,
    ],
    "Runs": [
        "lambda:InvokeFunction on <Decide/Function> <Submit/Function>",
        "logs:CreateLogDelivery logs:DeleteLogDelivery logs:DescribeLogGroups "
        "logs:DescribeResourcePolicies logs:GetLogDelivery logs:ListLogDeliveries "
        "logs:PutResourcePolicy logs:UpdateLogDelivery on *",
        "xray:GetSamplingRules xray:GetSamplingTargets xray:PutTelemetryRecords "
        "xray:PutTraceSegments on *",
    ],
    "Job": [
        "s3:GetObject s3:GetObjectVersion on "
        + _objects("incoming/*", "pipelines/*", "policies/*", "runs/*"),
        f"{MISS} incoming/* pipelines/* policies/* runs/*",
        f"s3:AbortMultipartUpload s3:PutObject on {_objects('policies/*', 'runs/*')}",
        "never s3:PutObject on "
        + _objects("policies/*/current.json", "runs/*/job.json", "runs/*/plan.json"),
    ],
    "Agent": [
        "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:ReceiveMessage on <Jobs/Queue>",
        f"s3:GetObject on {_objects('runs/*')}",
        f"{MISS} runs/*",
        f"s3:PutObject on {_objects('runs/*')}",
        f"never s3:PutObject on {_objects('runs/*/job.json', 'runs/*/plan.json')}",
    ],
}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _statements(template: Template, role: str) -> list[dict[str, Any]]:
    (policy,) = the(template, "IAM::Role", f"/{role}/Role/")["Policies"]
    statements: list[dict[str, Any]] = policy["PolicyDocument"]["Statement"]
    return statements


def _said(template: Template, statement: dict[str, Any]) -> str:
    actions = " ".join(sorted(_listed(statement["Action"])))
    resources = " ".join(sorted(flat(template, one) for one in _listed(statement["Resource"])))
    never = "" if statement["Effect"] == "Allow" else "never "
    conditions = statement.get("Condition", {})
    found = conditions.get("StringLikeIfExists", {}) | conditions.get("StringLike", {})
    prefixes = _listed(found.get("s3:prefix", []))
    only = f" if s3:prefix is {' '.join(sorted(prefixes))}" if prefixes else ""
    return f"{never}{actions} on {resources}{only}"


@pytest.mark.parametrize("role", sorted(GOLDEN))
def test_a_role_may_do_this_and_no_more(template: Template, role: str) -> None:
    said = [_said(template, statement) for statement in _statements(template, role)]
    assert sorted(said) == sorted(GOLDEN[role])


def test_every_role_is_on_the_list_and_none_has_other_policies(template: Template) -> None:
    roles = of_type(template, "IAM::Role")
    made_at = {role["Metadata"]["aws:cdk:path"].split("/")[1] for role in roles.values()}
    assert made_at == set(GOLDEN)
    assert not [role for role in roles.values() if "ManagedPolicyArns" in role["Properties"]]
    assert of_type(template, "IAM::ManagedPolicy") == {}


def test_the_agent_may_act_as_the_job_and_as_nobody_else(template: Template) -> None:
    policy = the(template, "IAM::Policy")
    assert [flat(template, role) for role in policy["Roles"]] == ["<Agent/Role>"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert _said(template, statement) == "sts:AssumeRole on <Job/Role>"


def test_no_action_is_a_wildcard_and_every_statement_says_what_for(template: Template) -> None:
    for role in GOLDEN:
        for statement in _statements(template, role):
            assert not [action for action in _listed(statement["Action"]) if "*" in action]
            assert statement["Sid"]


def test_what_is_allowed_on_the_bucket_is_of_this_account(template: Template) -> None:
    owned = {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}
    for role in GOLDEN:
        for statement in _statements(template, role):
            allowed = statement["Effect"] == "Allow"
            if allowed and _listed(statement["Action"])[0].startswith("s3:"):
                assert statement["Condition"]["StringEquals"] == owned


def test_who_reads_objects_is_told_when_there_is_none(template: Template) -> None:
    for role in set(GOLDEN) - {"Runs"}:
        statements = _statements(template, role)
        read = {
            flat(template, resource).removeprefix("<Store/Bucket>/")
            for statement in statements
            if "s3:GetObject" in _listed(statement["Action"])
            for resource in _listed(statement["Resource"])
        }
        listed = {
            prefix
            for statement in statements
            if "s3:ListBucket" in _listed(statement["Action"])
            for prefix in _listed(statement["Condition"]["StringLikeIfExists"]["s3:prefix"])
        }
        assert read == listed, role


def test_functions_are_trusted_as_functions_and_the_machine_for_this_account(
    template: Template,
) -> None:
    for role in ("Intake", "Submit", "Report", "Decide", "Sweep"):
        (trust,) = _trust(template, role)
        assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}
    (trust,) = _trust(template, "Runs")
    assert trust["Principal"] == {"Service": "states.amazonaws.com"}
    account = {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    assert trust["Condition"] == {"StringEquals": account}


@pytest.mark.parametrize("role", ["Job", "Agent"])
def test_jobs_and_agents_are_trusted_by_the_account_or_by_those_named(
    template: Template, thrown_away: Template, role: str
) -> None:
    (trust,) = _trust(template, role)
    root = "arn:<AWS::Partition>:iam::<AWS::AccountId>:root"
    assert flat(template, trust["Principal"]["AWS"]) == root
    named = {
        principal
        for trust in _trust(thrown_away, role)
        for principal in _listed(trust["Principal"]["AWS"])
        if isinstance(principal, str)
    }
    assert named == {f"arn:aws:iam::123456789012:role/{name}" for name in "ab"}


def test_the_agent_may_act_as_the_job_even_where_the_account_is_not_trusted(
    thrown_away: Template,
) -> None:
    trusted = [
        flat(thrown_away, principal)
        for trust in _trust(thrown_away, "Job")
        for principal in _listed(trust["Principal"]["AWS"])
    ]
    assert "<Agent/Role>" in trusted


def _trust(template: Template, role: str) -> list[dict[str, Any]]:
    document = the(template, "IAM::Role", f"/{role}/Role/")["AssumeRolePolicyDocument"]
    statements: list[dict[str, Any]] = document["Statement"]
    return statements
