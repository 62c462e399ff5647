"""The region is the environment's, by either name, as for every other tool of AWS."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.agent.roles import JobCredentials
from relay.agent.settings import read
from relay.agent.wiring import _job_environment
from relay.console.aws_session import aws_session


@pytest.fixture(autouse=True)
def _no_region(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    config = tmp_path / "config"
    config.write_text("[profile team]\nregion = eu-west-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))


@pytest.mark.parametrize(
    ("named", "default", "profile", "region"),
    [
        ("us-west-2", None, None, "us-west-2"),
        (None, "us-east-2", None, "us-east-2"),
        ("us-west-2", "us-east-2", None, "us-west-2"),
        ("us-west-2", None, "team", "us-west-2"),
        ("", None, "team", "eu-west-1"),
        (None, None, None, None),
    ],
)
def test_aws_region_counts_first(
    monkeypatch: pytest.MonkeyPatch,
    named: str | None,
    default: str | None,
    profile: str | None,
    region: str | None,
) -> None:
    for name, value in (("AWS_REGION", named), ("AWS_DEFAULT_REGION", default)):
        if value is not None:
            monkeypatch.setenv(name, value)
    assert aws_session(profile).region_name == region


def test_a_job_is_told_the_agents_region_by_both_names(tmp_path: Path) -> None:
    settings = read([f"--state={tmp_path}", "--ray=http://127.0.0.1:1"])
    credentials = JobCredentials(None, "arn", "agent", tmp_path)  # type: ignore[arg-type]
    told = _job_environment(settings, credentials, "us-west-2")
    assert (told["AWS_REGION"], told["AWS_DEFAULT_REGION"]) == ("us-west-2", "us-west-2")
    assert "AWS_REGION" not in _job_environment(settings, credentials, None)
