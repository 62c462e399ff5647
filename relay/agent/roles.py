"""Credentials of a role, assumed and renewed: the agent's own, and those it hands to jobs.

Jobs never see the agent's credentials, nor those it was started with. The agent keeps a file of
the job role's temporary credentials fresh; a job reads it through a profile's
`credential_process`, so the SDK in the job renews by itself for as long as the job takes.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from botocore.credentials import CredentialProvider, DeferredRefreshableCredentials
from botocore.session import Session as CoreSession

if TYPE_CHECKING:
    from botocore.client import BaseClient

ROLE_SESSION_S = 3600
RENEW_BEFORE = timedelta(minutes=40)
"""The SDK in a job renews 15 minutes before the end; what it then finds is fresher than that."""
JOB_PROFILE = "relay-job"


class AssumedRole(CredentialProvider):  # type: ignore[misc]
    """A botocore provider: the credentials of one role, renewed before they expire."""

    METHOD = "relay-assumed-role"
    CANONICAL_NAME = None

    def __init__(self, sts: BaseClient, role_arn: str, session_name: str) -> None:
        super().__init__()
        self._sts, self._role_arn, self._session_name = sts, role_arn, session_name

    def load(self) -> DeferredRefreshableCredentials:
        """Credentials that are fetched at their first use."""
        return DeferredRefreshableCredentials(refresh_using=self._fetch, method=self.METHOD)

    def _fetch(self) -> dict[str, str]:
        found = assume(self._sts, self._role_arn, self._session_name)
        return {
            "access_key": found["AccessKeyId"],
            "secret_key": found["SecretAccessKey"],
            "token": found["SessionToken"],
            "expiry_time": found["Expiration"].isoformat(),
        }


def session_as(
    sts: BaseClient, role_arn: str, session_name: str, region: str | None
) -> boto3.Session:
    """A boto3 session that acts as the role, for as long as it lives."""
    core = CoreSession()
    provider = AssumedRole(sts, role_arn, session_name)
    core.get_component("credential_provider").insert_before("env", provider)
    return boto3.Session(botocore_session=core, region_name=region)


def assume(sts: BaseClient, role_arn: str, session_name: str) -> dict[str, Any]:
    """Temporary credentials of a role, good for an hour."""
    answer = sts.assume_role(
        RoleArn=role_arn, RoleSessionName=session_name[:64], DurationSeconds=ROLE_SESSION_S
    )
    found: dict[str, Any] = answer["Credentials"]
    return found


class JobCredentials:
    """A folder that jobs take their credentials from."""

    def __init__(self, sts: BaseClient, role_arn: str, session_name: str, folder: Path) -> None:
        self._sts, self._role_arn, self._session_name = sts, role_arn, session_name
        self._folder = folder
        self._expires = datetime.min.replace(tzinfo=UTC)

    def renew(self, now: datetime) -> None:
        """Write fresh credentials if those on disk end soon; the file is never half written."""
        if self._expires - now > RENEW_BEFORE:
            return
        found = assume(self._sts, self._role_arn, self._session_name)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        document = {
            "Version": 1,
            "AccessKeyId": found["AccessKeyId"],
            "SecretAccessKey": found["SecretAccessKey"],
            "SessionToken": found["SessionToken"],
            "Expiration": found["Expiration"].isoformat(),
        }
        _write_private(self._credentials, json.dumps(document))
        _write_private(self._config, self._profile())
        self._expires = found["Expiration"]

    def environment(self) -> dict[str, str]:
        """What a job's process needs to find them, and nothing else."""
        return {
            "AWS_CONFIG_FILE": str(self._config),
            "AWS_SHARED_CREDENTIALS_FILE": str(self._folder / "none"),
            "AWS_PROFILE": JOB_PROFILE,
            # Ray's own environment might hold keys, and they would win over a profile.
            "AWS_ACCESS_KEY_ID": "",
            "AWS_SECRET_ACCESS_KEY": "",
            "AWS_SESSION_TOKEN": "",
        }

    @property
    def _credentials(self) -> Path:
        return self._folder / "job-credentials.json"

    @property
    def _config(self) -> Path:
        return self._folder / "job-config"

    def _profile(self) -> str:
        show = shlex.join([shutil.which("cat") or "/bin/cat", str(self._credentials)])
        return f"[profile {JOB_PROFILE}]\ncredential_process = {show}\n"


def _write_private(path: Path, text: str) -> None:
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    partial.replace(path)
