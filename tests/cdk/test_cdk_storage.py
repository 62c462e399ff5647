"""Bucket, queues and ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from synthesis import Template, flat, of_type, path_of, the

DAY = 24 * 3600


def test_the_bucket_is_private_versioned_and_encrypted(template: Template) -> None:
    bucket = the(template, "S3::Bucket")
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    (statement,) = the(template, "S3::BucketPolicy")["PolicyDocument"]["Statement"]
    assert statement["Effect"] == "Deny"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_overwritten_progress_is_forgotten_after_a_day_and_drops_are_not(
    template: Template,
) -> None:
    rules = the(template, "S3::Bucket")["LifecycleConfiguration"]["Rules"]
    expiring = [rule for rule in rules if "NoncurrentVersionExpiration" in rule]
    assert [rule["Prefix"] for rule in expiring] == ["runs/"]
    assert expiring[0]["NoncurrentVersionExpiration"] == {"NoncurrentDays": 1}
    assert not [rule for rule in rules if "Expiration" in rule or "ExpirationInDays" in rule]
    (aborting,) = [rule for rule in rules if "AbortIncompleteMultipartUpload" in rule]
    assert "Prefix" not in aborting


def test_uploads_and_reports_ring_their_queues(template: Template) -> None:
    rung = []
    for each in the(template, "S3::Bucket")["NotificationConfiguration"]["QueueConfigurations"]:
        assert each["Event"] == "s3:ObjectCreated:*"
        rules = {rule["Name"]: rule["Value"] for rule in each["Filter"]["S3Key"]["Rules"]}
        rung.append((flat(template, each["Queue"]), rules))
    assert rung == [
        ("<Uploads/Queue>", {"prefix": "incoming/"}),
        ("<Reports/Queue>", {"prefix": "runs/", "suffix": "/progress.json"}),
        ("<Reports/Queue>", {"prefix": "runs/", "suffix": "/result.json"}),
    ]


def test_the_bucket_is_made_after_its_queues_let_it_send(template: Template) -> None:
    (bucket,) = of_type(template, "S3::Bucket").values()
    waited_for = {path_of(template, name) for name in bucket["DependsOn"]}
    assert waited_for == {"Uploads/Queue/Policy", "Reports/Queue/Policy"}


@pytest.mark.parametrize("queue", ["Uploads", "Reports"])
def test_only_this_accounts_bucket_of_this_stack_may_send(template: Template, queue: str) -> None:
    policy = the(template, "SQS::QueuePolicy", f"/{queue}/Queue/")
    (statement,) = [
        one
        for one in policy["PolicyDocument"]["Statement"]
        if one["Principal"] == {"Service": "s3.amazonaws.com"}
    ]
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Condition"]["StringEquals"] == {
        "aws:SourceAccount": {"Ref": "AWS::AccountId"}
    }
    like = statement["Condition"]["ArnLike"]["aws:SourceArn"]
    assert flat(template, like) == "arn:<AWS::Partition>:s3:::relay-*"


def test_every_queue_is_encrypted_and_reached_over_tls_only(template: Template) -> None:
    queues = of_type(template, "SQS::Queue")
    assert {queue["Properties"].get("SqsManagedSseEnabled") for queue in queues.values()} == {True}
    refusing = set()
    for policy in of_type(template, "SQS::QueuePolicy").values():
        first = policy["Properties"]["PolicyDocument"]["Statement"][0]
        assert (first["Effect"], first["Action"]) == ("Deny", "sqs:*")
        assert first["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        refusing |= {queue["Ref"] for queue in policy["Properties"]["Queues"]}
    assert refusing == set(queues)


def test_every_work_queue_has_dead_letters_that_outlast_it(template: Template) -> None:
    found = {}
    for name, queue in of_type(template, "SQS::Queue").items():
        redrive = queue["Properties"].get("RedrivePolicy")
        if redrive is None:
            assert queue["Properties"]["MessageRetentionPeriod"] == 14 * DAY
            continue
        assert redrive["maxReceiveCount"] >= 5
        assert queue["Properties"]["MessageRetentionPeriod"] == 4 * DAY
        found[path_of(template, name)] = flat(template, redrive["deadLetterTargetArn"])
    assert found == {
        "Uploads/Queue": "<Uploads/DeadLetters>",
        "Reports/Queue": "<Reports/DeadLetters>",
        "Jobs/Queue": "<Jobs/DeadLetters>",
    }


@pytest.mark.parametrize(("queue", "function"), [("Uploads", "Intake"), ("Reports", "Report")])
def test_messages_stay_hidden_for_six_timeouts(
    template: Template, queue: str, function: str
) -> None:
    hidden = the(template, "SQS::Queue", f"/{queue}/Queue/")["VisibilityTimeout"]
    assert hidden >= 6 * the(template, "Lambda::Function", f"/{function}/")["Timeout"]


def test_the_ledger_has_string_keys_expiry_and_recovery_but_no_index(template: Template) -> None:
    table = the(template, "DynamoDB::Table")
    assert table["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert {one["AttributeType"] for one in table["AttributeDefinitions"]} == {"S"}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table.keys().isdisjoint({"GlobalSecondaryIndexes", "LocalSecondaryIndexes"})


def _kept(template: Template) -> dict[str, set[str]]:
    kinds = ("S3::Bucket", "DynamoDB::Table", "Logs::LogGroup")
    return {
        kind: {
            resource[policy]
            for resource in of_type(template, kind).values()
            for policy in ("DeletionPolicy", "UpdateReplacePolicy")
        }
        for kind in kinds
    }


def test_data_and_logs_outlive_the_stack_and_it_is_protected(
    template: Template, assembly: Path
) -> None:
    assert {frozenset(one) for one in _kept(template).values()} == {frozenset({"Retain"})}
    assert the(template, "DynamoDB::Table")["DeletionProtectionEnabled"] is True
    assert _stack_artifact(assembly)["properties"]["terminationProtection"] is True


def test_a_stack_to_be_thrown_away_leaves_nothing(thrown_away: Template) -> None:
    assert {frozenset(one) for one in _kept(thrown_away).values()} == {frozenset({"Delete"})}
    assert the(thrown_away, "DynamoDB::Table").get("DeletionProtectionEnabled") in {None, False}


def _stack_artifact(assembly: Path) -> dict[str, Any]:
    artifact: dict[str, Any] = json.loads((assembly / "manifest.json").read_text())["artifacts"][
        "Relay"
    ]
    return artifact
