"""Where objects lie."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contracts import layout
from contracts.limits import KEY_BYTES_MAX
from contracts.names import PHASES, AttemptKey, attempt_key

RUN = "r260304-050607-abcdef"
VERSION = "3sL4kqtJlcpXroDTDmJ.rmSpXd3dIbrHY-MTRCxf3vjVBH40Nr8X8g"
PART = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ODD = st.sampled_from(
    ["..", ".", "", "%", "%2F", "%2E%2E", "_", "a\x00", "a\n", "/", "//", "../.."]
)
REST = st.one_of(ODD, PART, st.lists(st.one_of(ODD, PART), max_size=4).map("/".join))
NAME = st.one_of(ODD, PART).map(lambda text: text.replace("/", ""))
LONG = st.text(st.sampled_from("aé数🙂%/."), min_size=200, max_size=900)


@given(a=st.tuples(NAME, REST | LONG), b=st.tuples(NAME, REST | LONG))
@example(a=("_", "f"), b=("", "f"))
@example(a=("_no-pipeline", "f"), b=("", "f"))
@example(a=("%5F", "f"), b=("_", "f"))
@example(a=("x", "a/.."), b=("x", "a/%2E%2E"))
@example(a=("x", "a@v.json"), b=("x", "a"))
def test_two_refused_keys_have_two_reports(a: tuple[str, str], b: tuple[str, str]) -> None:
    reports = layout.rejection(*a, VERSION), layout.rejection(*b, VERSION)
    assert (reports[0] == reports[1]) == (a == b)


def test_nobody_can_upload_the_name_of_a_long_key_s_report() -> None:
    long = layout.rejection("tone", "x" * 1010, VERSION)
    folder, _, name = long.removeprefix(layout.REJECTED).partition("/")
    assert folder == layout.BY_DIGEST
    rest = name.removesuffix(f"@{VERSION}.json")
    assert layout.rejection(folder, rest, VERSION) != long
    for pipeline in ("by-digest", "_by-digest", "%5Fby-digest"):
        assert layout.rejection(pipeline, rest, VERSION) != long


@given(name=NAME, rest=REST | LONG)
@example(name="tone", rest="x" * 1005)
@example(name="tone", rest="%" * 1005)
@example(name="tone", rest="🙂" * 250)
def test_every_report_has_a_legal_and_plain_key(name: str, rest: str) -> None:
    key = layout.rejection(name, rest, VERSION)
    assert len(key.encode()) <= KEY_BYTES_MAX
    assert key.startswith(layout.REJECTED)
    assert key.endswith(f"@{VERSION}.json")
    assert not any(ord(letter) < 32 or ord(letter) == 127 for letter in key)
    assert not {".", ".."} & set(key.split("/"))


def test_an_ordinary_report_lies_where_its_uploader_looks() -> None:
    assert layout.rejection("tone", "zwei Wörter+.jsonl", "v1") == (
        "rejected/tone/zwei Wörter+.jsonl@v1.json"
    )
    assert layout.rejection("tone", "100%.jsonl", "v1") == "rejected/tone/100%25.jsonl@v1.json"


@given(
    round_=st.integers(1, 99),
    attempt=st.integers(1, 99),
    phase=st.sampled_from(PHASES),
    name=st.sampled_from([layout.PROGRESS, layout.RESULT]),
)
def test_status_keys_are_read_back(round_: int, attempt: int, phase: str, name: str) -> None:
    key = attempt_key(RUN, round_, phase, attempt)  # type: ignore[arg-type]
    assert layout.parse_status_key(layout.attempt_object(key, name)) == (key, name)


@pytest.mark.parametrize(
    "key",
    [
        f"runs/{RUN}/1-collect-1/job.json",
        f"runs/{RUN}/1-collect-1/xresult.json",
        f"runs/{RUN}/1-collect-1/result.json/",
        f"runs/{RUN}/1-collect-1/result.json\n",
        f"runs/{RUN}/1-collect-1/deep/result.json",
        f"runs/{RUN}/01-collect-1/result.json",
        f"runs/{RUN}/1-collect-01/result.json",
        f"runs/{RUN}/0-collect-1/result.json",
        f"runs/{RUN}/1-collect-0/result.json",
        f"runs/{RUN}/100-collect-1/result.json",
        f"runs/{RUN}/1-dream-1/result.json",
        f"runs/{RUN}/1-collect-1/RESULT.json",
        f"runs/{RUN}/\u0661-collect-1/result.json",
        f"/runs/{RUN}/1-collect-1/result.json",
        "runs/r1/1-collect-1/result.json",
        "result.json",
        "",
    ],
)
def test_other_keys_are_no_status_keys(key: str) -> None:
    assert layout.parse_status_key(key) is None


@given(key=st.text(max_size=60))
def test_whatever_is_read_is_written_the_same_way(key: str) -> None:
    found = layout.parse_status_key(key)
    assert found is None or layout.attempt_object(*found) == key


def test_an_attempts_objects_lie_together() -> None:
    key = AttemptKey(RUN, 2, "optimize", 3)
    folder = f"runs/{RUN}/2-optimize-3/"
    assert [
        layout.job(key),
        layout.claim(key),
        layout.stop(key),
        layout.exit_(key),
        layout.progress(key),
        layout.result(key),
    ] == [
        folder + name
        for name in ("job.json", "claim.json", "stop.json", "exit.json", "progress.json")
    ] + [folder + "result.json"]


def test_policies_of_a_run_and_its_start_do_not_share_a_folder() -> None:
    export, initial = layout.policy("tone", RUN), layout.initial_policy("tone", RUN)
    assert not export.startswith(initial)
    assert not initial.startswith(export)
    assert export.endswith("/")
    assert initial.endswith("/")


@given(bucket=st.from_regex(r"[a-z0-9-]{3,20}", fullmatch=True), key=st.text(max_size=30))
def test_addresses_are_taken_apart_as_they_were_made(bucket: str, key: str) -> None:
    assert layout.split_s3_uri(layout.s3_uri(bucket, key)) == (bucket, key)


@pytest.mark.parametrize("uri", ["", "s3://", "s3://b", "s3:///k", "file:///k", "b/k", "s3:/b/k"])
def test_what_is_no_address_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match="s3://bucket/key"):
        layout.split_s3_uri(uri)


def test_reports_with_long_keys_lie_together_by_pipeline() -> None:
    place = layout.rejection("tone", "x" * 1010, VERSION)
    assert place.startswith("rejected/_by-digest/tone/")
    assert layout.rejection("No Pipeline", "x" * 1010, VERSION).count("/") == 2


def test_a_seal_lies_in_its_folder() -> None:
    assert layout.seal("tone", "a day") == "incoming/tone/a day/_SUCCESS"
    assert layout.seal("tone", "a day").startswith(layout.set_folder("tone", "a day"))
