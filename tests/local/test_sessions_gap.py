"""Temporary credentials outlive the embedded AWS; MiniStack as released forgets them."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from emulated import Emulated, closed_emulator, plain_emulator

from relay.local.places import LocalPlaces
from relay.local.processes import Processes

pytestmark = pytest.mark.emulator


def assumed(aws: Emulated) -> dict[str, str]:
    """Credentials of a role that may do anything."""
    name = "job"
    everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    trust = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    made = aws("iam").create_role(
        RoleName=name,
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )
    aws("iam").put_role_policy(
        RoleName=name,
        PolicyName="everything",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [everything]}),
    )
    answer = aws("sts").assume_role(RoleArn=made["Role"]["Arn"], RoleSessionName="job")
    return dict(answer["Credentials"])


def listing(aws: Emulated, credentials: dict[str, str]) -> Any:
    """Ask for the queues with these credentials, at the address of that client."""
    like = aws("sqs")
    return (
        boto3.session.Session()
        .client(
            "sqs",
            endpoint_url=like.meta.endpoint_url,
            region_name=like.meta.region_name,
            verify=like._endpoint.http_session._verify,
            aws_access_key_id=credentials["AccessKeyId"],
            aws_secret_access_key=credentials["SecretAccessKey"],
            aws_session_token=credentials["SessionToken"],
            config=Config(retries={"max_attempts": 1}),
        )
        .list_queues()
    )


def kill(root: Path, name: str) -> None:
    processes = Processes(LocalPlaces(root))
    os.kill(processes.pid(name), signal.SIGKILL)
    while processes.alive(name):
        pass


def test_credentials_that_were_given_outlive_a_kill_9_at_once(tmp_path: Path) -> None:
    with closed_emulator(tmp_path) as aws:
        credentials = assumed(aws)
        kill(tmp_path, "emulator")
    with closed_emulator(tmp_path) as aws:
        assert listing(aws, credentials)["ResponseMetadata"]["HTTPStatusCode"] == 200
        with pytest.raises(ClientError, match="InvalidClientTokenId"):
            listing(aws, {**credentials, "AccessKeyId": "ASIAQAAAAAAAAAAAAAAA"})


def test_the_gap_is_still_there(tmp_path: Path) -> None:
    with plain_emulator(tmp_path) as aws:
        credentials = assumed(aws)
        Processes(LocalPlaces(tmp_path)).stop("plain")
    with plain_emulator(tmp_path) as aws:
        with pytest.raises(ClientError) as turned_away:
            listing(aws, credentials)
        assert turned_away.value, "MiniStack now does this; remove the gap sessions"
