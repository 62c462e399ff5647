"""The bucket, as a job may use it: read what it needs, put what it says."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from contracts.errors import DataUnusable, JobFailed, RelayError, ServiceUnavailable

_CHUNK_BYTES = 1024 * 1024
_ABSENT = frozenset({"404", "NoSuchKey", "NoSuchVersion", "NotFound"})
_REFUSED = frozenset({"403", "AccessDenied", "AllAccessDisabled", "InvalidObjectState"})
_EXISTS = frozenset({"412", "PreconditionFailed", "409", "ConditionalRequestConflict"})
_CONFIG = Config(
    retries={"mode": "standard", "max_attempts": 5}, connect_timeout=10, read_timeout=60
)


class Objects:
    """The objects of one bucket; endpoint and credentials come from the environment."""

    def __init__(self, bucket: str, client: object | None = None) -> None:
        self.bucket = bucket
        self._client: Any = client or boto3.client("s3", config=_CONFIG)

    def get(self, key: str) -> bytes:
        """Read a small object.

        Raises:
            DataUnusable: it is not there.
            JobFailed: the job's role may not read it.
            ServiceUnavailable: S3 did not answer.
        """
        with _translated(f"read {self._address(key)}"):
            body: bytes = self._client.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        return body

    def download(self, key: str, path: Path, *, version_id: str | None = None) -> None:
        """Stream an object, or exactly one version of it, into a new file.

        Raises:
            DataUnusable, JobFailed, ServiceUnavailable: as for `get`.
        """
        exact = {"VersionId": version_id} if version_id else {}
        where = self._address(key) + (f" (version {version_id})" if version_id else "")
        with _translated(f"read {where}"):
            found = self._client.get_object(Bucket=self.bucket, Key=key, **exact)
            with path.open("wb") as file:
                for chunk in found["Body"].iter_chunks(_CHUNK_BYTES):
                    file.write(chunk)

    def exists(self, key: str) -> bool:
        """Whether the object is there; a key that may not be seen counts as absent."""
        with _translated(f"look for {self._address(key)}"):
            try:
                self._client.head_object(Bucket=self.bucket, Key=key)
            except ClientError as error:
                if _code(error) in _ABSENT | _REFUSED:
                    return False
                raise
        return True

    def put(self, key: str, data: bytes) -> None:
        """Write or overwrite a small JSON object.

        Raises:
            JobFailed: the job's role may not write it.
            ServiceUnavailable: S3 did not answer.
        """
        with _translated(f"write {self._address(key)}"):
            self._client.put_object(
                Bucket=self.bucket, Key=key, Body=data, ContentType="application/json"
            )

    def put_once(self, key: str, data: bytes) -> bool:
        """Write a small JSON object unless it exists; whether it was this call that wrote it.

        Raises:
            JobFailed, ServiceUnavailable: as for `put`.
        """
        with _translated(f"write {self._address(key)}"):
            try:
                self._client.put_object(
                    Bucket=self.bucket,
                    Key=key,
                    Body=data,
                    ContentType="application/json",
                    IfNoneMatch="*",
                )
            except ClientError as error:
                if _code(error) in _EXISTS:
                    return False
                raise
        return True

    def upload(self, key: str, path: Path, *, sha256: str) -> None:
        """Write a file of at most 5 GiB; S3 refuses it unless its bytes have this sha256.

        Raises:
            JobFailed, ServiceUnavailable: as for `put`.
        """
        checksum = base64.b64encode(bytes.fromhex(sha256)).decode("ascii")
        with _translated(f"write {self._address(key)}"), path.open("rb") as file:
            self._client.put_object(Bucket=self.bucket, Key=key, Body=file, ChecksumSHA256=checksum)

    def _address(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _typed(doing: str, error: ClientError) -> RelayError:
    code = _code(error)
    if code in _ABSENT:
        return DataUnusable(f"cannot {doing}: it is not there; was it deleted?")
    if code in _REFUSED or code.startswith("KMS."):
        return JobFailed(f"cannot {doing}: not there, or not allowed to the job's role ({code})")
    return ServiceUnavailable(f"cannot {doing}: S3 answered {code}")


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        raise _typed(doing, error) from error
    except BotoCoreError as error:
        raise ServiceUnavailable(f"cannot {doing}: {error}") from error
