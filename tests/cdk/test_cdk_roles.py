"""Who may do what: golden files, so that a new right is a decision somebody sees."""

from __future__ import annotations

import difflib
import json
import re
from typing import Any

import pytest
from role_statements import GOLDEN, deployments, role_of
from synthesis import ROOT, Template, flat, of_type, the

RIGHTS = ROOT / "docs" / "operate" / "rights.md"


@pytest.fixture(scope="module")
def found(template: Template, on_cluster: Template, access: Template) -> dict[str, str]:
    """What is granted now: text by golden file."""
    return dict(deployments(template, on_cluster, access))


def _golden() -> dict[str, str]:
    return {
        str(file.relative_to(GOLDEN)): file.read_text() for file in sorted(GOLDEN.rglob("*.json"))
    }


@pytest.mark.parametrize("name", sorted(_golden()))
def test_a_role_may_do_this_and_no_more(found: dict[str, str], name: str) -> None:
    changes = difflib.unified_diff(
        _golden()[name].splitlines(),
        found.get(name, "").splitlines(),
        f"tests/cdk/golden/roles/{name}",
        "the synthesised template",
        lineterm="",
    )
    told = "\n".join(changes)
    assert not told, f"{told}\nIf it is meant: python tests/cdk/role_statements.py"


def test_every_role_has_its_file(found: dict[str, str]) -> None:
    assert sorted(found) == sorted(_golden())
    assert len(found) == 8 + 7


def _granted(found: dict[str, str]) -> set[tuple[str, str]]:
    return {
        (name.partition("/")[2].removesuffix(".json"), action)
        for name, text in found.items()
        for statement in json.loads(text)
        if statement["effect"] == "Allow"
        for action in statement["actions"]
    }


def _reasons() -> dict[tuple[str, str], str]:
    rows = [line.split(" | ") for line in RIGHTS.read_text().splitlines()]
    return {
        (row[0].removeprefix("| "), row[1].strip("`")): row[2].removesuffix(" |")
        for row in rows
        if len(row) == 3 and ":" in row[1]
    }


def test_every_right_is_seen_in_use_or_has_a_written_reason(found: dict[str, str]) -> None:
    granted, reasons = _granted(found), _reasons()
    assert sorted(granted - set(reasons)) == []
    assert sorted(set(reasons) - granted) == []
    short = [pair for pair, why in reasons.items() if len(why.split()) < 4]
    assert [pair for pair in short if not reasons[pair].startswith("seen: ")] == []


def test_every_place_that_a_reason_names_is_there_and_does_so() -> None:
    named = [
        (pair, place, call)
        for pair, why in _reasons().items()
        for place, call in re.findall(
            r"`((?:lambdas|relay|training|tests|cdk)/[\w/.]+)` `(\w+)`", why
        )
    ]
    assert len(named) > 20
    missing = [one for one in named if one[2] not in (ROOT / one[1]).read_text()]
    assert missing == []


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _statements(template: Template, role: str) -> list[dict[str, Any]]:
    (policy,) = the(template, "IAM::Role", f"/{role}/Role/")["Policies"]
    statements: list[dict[str, Any]] = policy["PolicyDocument"]["Statement"]
    return statements


def _roles(template: Template) -> set[str]:
    return {role_of(role) for role in of_type(template, "IAM::Role").values()}


def test_no_role_has_managed_policies(
    template: Template, on_cluster: Template, access: Template
) -> None:
    for each in (template, on_cluster, access):
        roles = of_type(each, "IAM::Role")
        assert not [role for role in roles.values() if "ManagedPolicyArns" in role["Properties"]]
        assert of_type(each, "IAM::ManagedPolicy") == {}


def test_the_agent_may_act_as_the_job_and_as_nobody_else(template: Template) -> None:
    policy = the(template, "IAM::Policy")
    assert [flat(template, role) for role in policy["Roles"]] == ["<Agent/Role>"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "sts:AssumeRole"
    assert flat(template, statement["Resource"]) == "<Job/Role>"


def test_no_action_is_a_wildcard_and_every_statement_says_what_for(template: Template) -> None:
    for role in _roles(template):
        for statement in _statements(template, role):
            assert not [action for action in _listed(statement["Action"]) if "*" in action]
            assert statement["Sid"]


def test_what_is_allowed_on_the_bucket_is_of_this_account(template: Template) -> None:
    owned = {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}
    for role in _roles(template):
        for statement in _statements(template, role):
            allowed = statement["Effect"] == "Allow"
            if allowed and _listed(statement["Action"])[0].startswith("s3:"):
                assert statement["Condition"]["StringEquals"] == owned


def test_who_reads_objects_is_told_when_there_is_none(template: Template) -> None:
    for role in _roles(template) - {"Runs"}:
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
