"""The objects beside a job, in S3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from contracts import layout
from contracts.errors import ContractBroken
from contracts.job import Claim, Exit, JobSpec, Stop
from contracts.names import AttemptKey
from contracts.result import PhaseResult

if TYPE_CHECKING:
    from botocore.client import BaseClient

_ABSENT = {"NoSuchKey", "404", "NotFound"}
_TAKEN = {"PreconditionFailed", "412"}
_CLASH = {"ConditionalRequestConflict", "409"}
_CLASHES_MAX = 5


class S3Objects:
    """`Objects` over a boto3 S3 client."""

    def __init__(self, client: BaseClient, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def spec(self, key: str) -> JobSpec | None:
        """Read a job's spec; see `Objects.spec`."""
        body = self._get(key)
        if body is None:
            return None
        where = layout.s3_uri(self._bucket, key)
        spec = JobSpec.from_bytes(body, where=where)
        if layout.job(spec.key) != key or spec.bucket != self._bucket:
            raise ContractBroken(f"{where}: describes another job, {spec.key.job_name}")
        return spec

    def put_claim(self, key: AttemptKey, claim: Claim) -> bool:
        """Claim a job; False when somebody has."""
        return self._put_if_absent(layout.claim(key), claim.to_bytes())

    def claimed_by(self, key: AttemptKey) -> str | None:
        """The agent that holds the job."""
        body = self._get(layout.claim(key))
        return None if body is None else Claim.from_bytes(body, where=layout.claim(key)).agent

    def stop(self, key: AttemptKey) -> Stop | None:
        """The wish that the job end."""
        body = self._get(layout.stop(key))
        return None if body is None else Stop.from_bytes(body, where=layout.stop(key))

    def exited(self, key: AttemptKey) -> bool:
        """Whether the job's end is on record."""
        return self._get(layout.exit_(key)) is not None

    def put_result(self, result: PhaseResult) -> bool:
        """Write the job's last word unless it has spoken itself."""
        return self._put_if_absent(layout.result(result.key), result.to_bytes())

    def put_exit(self, key: AttemptKey, exit_: Exit) -> None:
        """Put the job's end on record; the first record stands."""
        self._put_if_absent(layout.exit_(key), exit_.to_bytes())

    def _get(self, key: str) -> bytes | None:
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if error.response["Error"]["Code"] in _ABSENT:
                return None
            raise
        body: bytes = answer["Body"].read()
        return body

    def _put_if_absent(self, key: str, body: bytes) -> bool:
        for attempt in range(_CLASHES_MAX):
            try:
                self._client.put_object(Bucket=self._bucket, Key=key, Body=body, IfNoneMatch="*")
            except ClientError as error:
                code = error.response["Error"]["Code"]
                if code in _TAKEN:
                    return False
                if code not in _CLASH or attempt == _CLASHES_MAX - 1:
                    raise
            else:
                return True
        return False
