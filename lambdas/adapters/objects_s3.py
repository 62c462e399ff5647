"""The bucket."""

from __future__ import annotations

import base64
from itertools import count
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from contracts.errors import ContractBroken, DropRefused
from lambdas.adapters.service_errors import code_of
from lambdas.ports import ObjectHead, StoredVersion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.client import BaseClient

_GONE = frozenset({"NoSuchKey", "NoSuchVersion", "404", "NotFound"})
_UNREADABLE = frozenset({"AccessDenied", "AllAccessDisabled", "403", "InvalidObjectState"})
_CONFLICT_TRIES = 3


class S3Objects:
    """Objects of one bucket."""

    def __init__(self, client: BaseClient, bucket: str) -> None:
        self._client = client
        self.bucket = bucket

    def get(self, key: str, *, limit: int) -> bytes | None:
        """Content, at most `limit` bytes; None when there is no such object."""
        try:
            answer = self._client.get_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            if code_of(error) in _GONE:
                return None
            raise
        if answer["ContentLength"] > limit:
            raise ContractBroken(f"{key}: {answer['ContentLength']} bytes, at most {limit} taken")
        body: bytes = answer["Body"].read()
        return body

    def get_range(self, key: str, version_id: str, length: int) -> bytes | None:
        """The first `length` bytes of an exact version; None when it is gone.

        Raises:
            DropRefused: it may not be read, or not now, as by its key or its storage class.
        """
        try:
            answer = self._client.get_object(
                Bucket=self.bucket, Key=key, VersionId=version_id, Range=f"bytes=0-{length - 1}"
            )
        except ClientError as error:
            if code_of(error) in _GONE:
                return None
            if code_of(error) in _UNREADABLE or code_of(error).startswith("KMS."):
                raise DropRefused(_words_of(error)) from error
            raise
        body: bytes = answer["Body"].read()
        return body

    def list_versions(self, prefix: str) -> Iterator[StoredVersion]:
        """Every version below a prefix, in the order of keys; deletions count as old versions."""
        pages = self._client.get_paginator("list_object_versions")
        for page in pages.paginate(Bucket=self.bucket, Prefix=prefix):
            for item in page.get("Versions", []):
                yield StoredVersion(
                    item["Key"], item.get("VersionId") or "null", item["Size"], item["IsLatest"]
                )
            for item in page.get("DeleteMarkers", []):
                yield StoredVersion(item["Key"], "", 0, newest=False)

    def head(self, key: str) -> ObjectHead | None:
        """Size, tag and sha256 (hexadecimal) of an object; None when there is none."""
        try:
            answer = self._client.head_object(Bucket=self.bucket, Key=key, ChecksumMode="ENABLED")
        except ClientError as error:
            if code_of(error) in _GONE:
                return None
            raise
        checksum = answer.get("ChecksumSHA256")
        sha256 = base64.b64decode(checksum).hex() if checksum and "-" not in checksum else None
        return ObjectHead(answer["ContentLength"], answer["ETag"], sha256)

    def put(self, key: str, body: bytes) -> None:
        """Write an object, whatever was there."""
        self._client.put_object(
            Bucket=self.bucket, Key=key, Body=body, ContentType="application/json"
        )

    def put_if_absent(self, key: str, body: bytes) -> bool:
        """Write an object unless one is there; whether it was written.

        A conflict says that another write was under way, not that it came to anything: only to
        put it again tells.
        """
        for tries in count(1):
            try:
                self._client.put_object(
                    Bucket=self.bucket,
                    Key=key,
                    Body=body,
                    ContentType="application/json",
                    IfNoneMatch="*",
                )
            except ClientError as error:
                if code_of(error) == "PreconditionFailed":
                    return False
                if tries == _CONFLICT_TRIES or code_of(error) != "ConditionalRequestConflict":
                    raise
            else:
                return True
        raise AssertionError("count() has no end")


def _words_of(error: ClientError) -> str:
    message = str(error.response.get("Error", {}).get("Message", ""))
    return f"{code_of(error)}: {message}" if message else code_of(error)
