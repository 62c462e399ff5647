"""Credentials: the agent's own by role, and those that jobs take from a folder."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.session import Session

from relay.agent.roles import RENEW_BEFORE, JobCredentials, session_as

ROLE = "arn:aws:iam::123456789012:role/job"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class CountingSts:
    """Gives out numbered credentials that are good for an hour."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.now = NOW

    def assume_role(self, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        number = len(self.asked)
        return {
            "Credentials": {
                "AccessKeyId": f"ASIA{number}",
                "SecretAccessKey": f"secret{number}",
                "SessionToken": f"token{number}",
                "Expiration": self.now + timedelta(seconds=asked["DurationSeconds"]),
            }
        }


def test_a_session_acts_as_the_role(aws: None) -> None:
    session = session_as(boto3.client("sts"), ROLE, "agent-1", "us-east-1")
    arn = session.client("sts").get_caller_identity()["Arn"]
    assert arn.endswith(":assumed-role/job/agent-1")


def test_a_session_renews_credentials_that_are_about_to_end(aws: None) -> None:
    sts = CountingSts()
    sts.now = datetime.now(UTC) - timedelta(minutes=55)
    credentials = session_as(sts, ROLE, "agent-1", "us-east-1").get_credentials()
    assert credentials is not None
    assert credentials.access_key == "ASIA1"
    sts.now = datetime.now(UTC)
    assert credentials.get_frozen_credentials().access_key != "ASIA1"


def test_a_job_gets_the_job_roles_credentials_even_where_the_environment_holds_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sts = CountingSts()
    sts.now = datetime.now(UTC)
    kept = JobCredentials(sts, ROLE, "agent-1", tmp_path / "a folder")
    kept.renew(datetime.now(UTC))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA-of-somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-somebody")
    for name, value in kept.environment().items():
        monkeypatch.setenv(name, value)
    found = Session().get_credentials()
    assert found is not None
    assert found.access_key == "ASIA1"
    assert found.token == "token1"


def test_job_credentials_are_renewed_only_when_they_end_soon(tmp_path: Path) -> None:
    sts = CountingSts()
    kept = JobCredentials(sts, ROLE, "agent-1", tmp_path)
    kept.renew(NOW)
    kept.renew(NOW + timedelta(minutes=19))
    assert len(sts.asked) == 1
    kept.renew(NOW + timedelta(hours=1) - RENEW_BEFORE)
    assert len(sts.asked) == 2
    stored = json.loads((tmp_path / "job-credentials.json").read_text())
    assert stored["AccessKeyId"] == "ASIA2"


def test_only_the_owner_can_read_job_credentials(tmp_path: Path) -> None:
    kept = JobCredentials(CountingSts(), ROLE, "agent-1", tmp_path / "new")
    old_mask = os.umask(0)
    try:
        kept.renew(NOW)
    finally:
        os.umask(old_mask)
    files = [tmp_path / "new", *(tmp_path / "new").iterdir()]
    assert [stat.S_IMODE(file.stat().st_mode) & 0o077 for file in files] == [0] * 3
