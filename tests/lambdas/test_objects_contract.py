"""The bucket: the fake and S3 (as moto has it) keep one contract."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from fakes.objects import FakeObjects

from contracts.errors import ContractBroken, DropRefused, ServiceUnavailable
from contracts.model import digest
from lambdas.adapters.objects_s3 import S3Objects
from lambdas.adapters.service_errors import typed_service_errors
from lambdas.ports import Objects


@pytest.fixture(params=["fake", "s3"])
def objects(request: pytest.FixtureRequest) -> Objects:
    if request.param == "fake":
        return FakeObjects()
    return S3Objects(request.getfixturevalue("s3"), "relay-tests")


def version_of(objects: Objects, key: str, request: pytest.FixtureRequest) -> str:
    if isinstance(objects, FakeObjects):
        return objects.versions[key][-1][0]
    s3 = request.getfixturevalue("s3")
    version: str = s3.head_object(Bucket="relay-tests", Key=key)["VersionId"]
    return version


def test_what_is_not_there_is_none(objects: Objects) -> None:
    assert objects.get("k", limit=9) is None
    assert objects.head("k") is None
    assert objects.get_range("k", "00000000-0000-0000-0000-000000000000", 4) is None


def test_content_comes_back_up_to_the_limit(objects: Objects) -> None:
    objects.put("k ü+%", b"12345")
    assert objects.get("k ü+%", limit=5) == b"12345"
    with pytest.raises(ContractBroken, match="5 bytes, at most 4"):
        objects.get("k ü+%", limit=4)


def test_a_put_replaces_and_a_conditional_put_never_does(objects: Objects) -> None:
    assert objects.put_if_absent("k", b"1")
    assert not objects.put_if_absent("k", b"2")
    assert objects.get("k", limit=9) == b"1"
    objects.put("k", b"3")
    assert objects.get("k", limit=9) == b"3"


def test_a_range_is_of_the_exact_version(objects: Objects, request: pytest.FixtureRequest) -> None:
    objects.put("k", b"first")
    first = version_of(objects, "k", request)
    objects.put("k", b"second")
    assert objects.get_range("k", first, 3) == b"fir"
    assert objects.get_range("k", first, 300) == b"first"


def test_a_head_says_size_and_tag(objects: Objects) -> None:
    objects.put("k", b"12345")
    head = objects.head("k")
    assert head is not None
    assert head.size == 5
    assert head.etag


def test_a_stored_checksum_is_hexadecimal_sha256(s3: object) -> None:
    s3.put_object(Bucket="relay-tests", Key="k", Body=b"12345", ChecksumAlgorithm="SHA256")  # type: ignore[attr-defined]
    head = S3Objects(s3, "relay-tests").head("k")  # type: ignore[arg-type]
    assert head is not None
    assert head.sha256 == digest(b"12345")


def test_without_a_checksum_there_is_none_to_compare(s3: object) -> None:
    s3.put_object(Bucket="relay-tests", Key="k", Body=b"12345", ChecksumAlgorithm="CRC32")  # type: ignore[attr-defined]
    head = S3Objects(s3, "relay-tests").head("k")  # type: ignore[arg-type]
    assert head is not None
    assert head.sha256 is None


def test_every_version_is_listed_by_key_and_a_deletion_leaves_none_the_newest(
    objects: Objects, request: pytest.FixtureRequest
) -> None:
    for key, body in (
        ("f/b", b"1"),
        ("f/b", b"22"),
        ("f/a ü+%", b"333"),
        ("f/c", b"4"),
        ("g", b"5"),
    ):
        objects.put(key, body)
    if isinstance(objects, FakeObjects):
        objects.delete("f/c")
    else:
        request.getfixturevalue("s3").delete_object(Bucket="relay-tests", Key="f/c")
    listed = list(objects.list_versions("f/"))
    found = [(it.key, it.size) for it in listed if it.newest]
    assert found == [("f/a ü+%", 3), ("f/b", 2)]
    assert len(listed) == 5
    newest = next(it for it in listed if it.key == "f/b" and it.newest)
    assert objects.get_range("f/b", newest.version_id, 9) == b"22"
    assert list(objects.list_versions("nothing/")) == []


class Conflicting:
    """S3 while other writes of the same object are under way, so many times."""

    def __init__(self, conflicts: int, then: str = "") -> None:
        self._codes = ["ConditionalRequestConflict"] * conflicts + [then]

    def put_object(self, **_given: object) -> None:
        code = self._codes.pop(0)
        if code:
            raise ClientError({"Error": {"Code": code}}, "PutObject")


@pytest.mark.parametrize(("then", "written"), [("", True), ("PreconditionFailed", False)])
def test_a_conflict_says_nothing_of_what_is_there_so_it_is_put_again(
    *, then: str, written: bool
) -> None:
    assert S3Objects(Conflicting(2, then), "relay-tests").put_if_absent("k", b"1") is written  # type: ignore[arg-type]


def test_a_conflict_that_lasts_is_no_answer_and_may_pass() -> None:
    store = S3Objects(Conflicting(9), "relay-tests")  # type: ignore[arg-type]
    with pytest.raises(ServiceUnavailable), typed_service_errors():
        store.put_if_absent("k", b"1")


@pytest.mark.parametrize("code", ["AccessDenied", "KMS.DisabledException", "InvalidObjectState"])
def test_what_may_not_be_read_is_refused_with_the_words_of_s3(code: str) -> None:
    class Refusing:
        def get_object(self, **_given: str) -> None:
            said = {"Code": code, "Message": "it is locked"}
            raise ClientError({"Error": said}, "GetObject")

    with pytest.raises(DropRefused, match=f"{code}: it is locked"):
        S3Objects(Refusing(), "relay-tests").get_range("k", "v", 5)
