"""Good and broken records of any form in any container: none is lost, and reading ends."""

from __future__ import annotations

import gzip
import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from form_files import BUILDERS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pair_files import turn

from contracts.pipeline import DataRules
from trajectories.formats import FORMATS
from trajectories.learnable import learnable
from trajectories.pair import Pair
from trajectories.reading import Reader
from trajectories.shards import read_shards, write_shards
from trajectories.trajectory import Trajectory
from trajectories.validating import validate

SECONDS_MAX = 5.0
"""For files of at most a few kilobytes on a machine that does other things besides."""

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from([turn("assistant", "x"), turn("user", "y"), turn("tool", ""), "<image>"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "tool_calls", "name", "images"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
FIELDS = sorted({field for build in BUILDERS.values() for field in build()} | {"label", "images"})
GOOD = st.builds(
    lambda build, n: build(n), st.sampled_from(list(BUILDERS.values())), st.integers(0, 5)
)
SPOILT = st.builds(
    lambda build, changes: build(0, **changes),
    st.sampled_from(list(BUILDERS.values())),
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3),
)
NOISE = st.sampled_from(
    [
        b"{", b"nonsense", b'{"a": NaN}', b'{"a": 1, "a": 2}', b'{"a": 1} {"b": 2}', b"\xff\xfe{",
        b'{"a": 1},', b"[" * 70 + b"]" * 70, b'{"a": 1e999}', b'{"a": "\x00"}', b"null", b"3",
        b'{"n": ' + b"9" * 5000 + b"}", b'{"a": "\\ud800"}', b"[1, 2]", b'"text"',
    ]
)  # fmt: skip
RECORDS = st.lists(GOOD | GOOD | SPOILT | JSON, max_size=8)


def encoded(record: Any) -> bytes:
    return record if isinstance(record, bytes) else json.dumps(record).encode()


def as_lines(records: list[Any]) -> bytes:
    return b"\n".join(map(encoded, records))


def as_array(records: list[Any]) -> bytes:
    return b"[" + b" ,\n".join(map(encoded, records)) + b"]"


def as_objects(records: list[Any]) -> bytes:
    return b"\n".join(json.dumps(record, indent=1).encode() for record in records)


def as_table(records: list[Any]) -> bytes:
    rows = [{"json": json.dumps(record)} for record in records]
    try:
        table = pa.Table.from_pylist([one for one in records if isinstance(one, dict)])
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        table = pa.Table.from_pylist(rows)
    out = io.BytesIO()
    try:
        pq.write_table(table, out)
    except pa.ArrowException:
        pq.write_table(pa.Table.from_pylist(rows), out := io.BytesIO())
    return out.getvalue()


CONTAINERS: dict[str, Callable[[list[Any]], bytes]] = {
    "lines": as_lines,
    "array": as_array,
    "objects": as_objects,
    "table": as_table,
}
WRAPPINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
    "marked": lambda content: b"\xef\xbb\xbf" + content,
    "utf-16": lambda content: content.decode("utf-8", "replace").encode("utf-16", "replace"),
    "returns": lambda content: content.replace(b"\n", b"\r\n"),
}


def checked(path: Path, format_: str) -> Reader:
    began = time.perf_counter()
    reader = Reader(path, name="f", format=format_)
    made = list(reader)
    assert reader.records == reader.usable + reader.rejected
    assert reader.usable == len(made)
    assert not reader.rejected or reader.problem_count
    assert made or reader.problem_count
    assert sum(one.count for one in reader.problems) <= reader.problem_count
    reader.report(drop="d", key="k", version_id="v").to_bytes()
    learnable(
        (one for one in made if isinstance(one, Pair)),
        (one for one in made if isinstance(one, Trajectory)),
        DataRules(),
        plays=False,
    )
    assert write_shards(path.parent, "s", made) == len(made)
    assert list(read_shards(path.parent, "s")) == made
    validate(path, name="f", rules=DataRules()).to_bytes()
    assert time.perf_counter() - began < SECONDS_MAX
    return reader


FORMAT = st.sampled_from(["auto", "auto", *FORMATS])
MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(
    records=RECORDS,
    container=st.sampled_from(sorted(CONTAINERS)),
    wrapping=st.sampled_from(["plain", "gzip", "zstd"]),
    format_=FORMAT,
)
def test_records_are_usable_or_rejected(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[Any],
    container: str,
    wrapping: str,
    format_: str,
) -> None:
    path = tmp_path_factory.mktemp("f") / "f"
    content = CONTAINERS[container](records)
    packed = content if container == "table" else WRAPPINGS[wrapping](content)
    path.write_bytes(packed)
    reader = checked(path, format_)
    if container in {"lines", "array"} and records and isinstance(records[0], dict):
        assert reader.records == len(records)


@MANY
@given(
    records=st.lists(GOOD | SPOILT | NOISE, max_size=8),
    wrapping=st.sampled_from(sorted(WRAPPINGS)),
    cut=st.integers(0, 300),
    flip=st.none() | st.integers(0, 2000),
    format_=FORMAT,
)
def test_files_with_noise_cut_off_and_damaged(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[Any],
    wrapping: str,
    cut: int,
    flip: int | None,
    format_: str,
) -> None:
    path = tmp_path_factory.mktemp("f") / "f"
    content = bytearray(WRAPPINGS[wrapping](as_lines(records)))
    if flip is not None and content:
        content[flip % len(content)] ^= 0x55
    path.write_bytes(content[: len(content) - cut])
    checked(path, format_)


@MANY
@given(records=st.lists(GOOD | NOISE, min_size=1, max_size=8))
def test_noise_costs_its_own_lines_only(
    tmp_path_factory: pytest.TempPathFactory, records: list[Any]
) -> None:
    path = tmp_path_factory.mktemp("f") / "f"
    path.write_bytes(as_lines([BUILDERS["openai_chat"](99), *records]))
    reader = checked(path, "openai_chat")
    chats = [one for one in records if isinstance(one, dict) and FORMATS["openai_chat"].fits(one)]
    assert reader.records == 1 + len(records)
    assert reader.usable == 1 + len(chats)
