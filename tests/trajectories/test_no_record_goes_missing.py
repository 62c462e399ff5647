"""Whatever a file holds: reading it ends, and records are usable or rejected, never lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pair_files import lines, openai, read, sharegpt, trl, turn
from whole_files import Reading

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["prompt", "chosen", "rejected", "input", "messages", "role", "content"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
NUMBERS = st.integers(0, 9)
GOOD = st.builds(trl, NUMBERS) | st.builds(openai, NUMBERS) | st.builds(sharegpt, NUMBERS)
SPOILT = st.builds(
    lambda build, field, value: build(0, **{field: value}),
    st.sampled_from([trl, openai, sharegpt]),
    st.sampled_from(["prompt", "chosen", "rejected", "input", "conversations", "system"]),
    JSON,
)
EQUAL = st.just(trl(chosen=[turn("assistant", "x")], rejected="x"))
RECORDS = st.lists(GOOD | SPOILT | EQUAL | JSON, max_size=12)
NOISE = st.binary(max_size=20).map(lambda noise: noise.replace(b"\n", b""))


def holds_together(reading: Reading) -> None:
    assert reading.records == reading.usable + reading.rejected
    assert reading.rejected >= 0
    assert len(reading.problems) <= 20
    shown = sum(problem.count for problem in reading.problems)
    assert shown == reading.problem_count or len(reading.problems) == 20
    assert bool(reading.usable) or bool(reading.problem_count)
    reading.model_dump_json().encode()


def folder(factory: Any) -> Path:
    made: Path = factory.mktemp("files")
    return made


@settings(max_examples=150, deadline=None)
@given(RECORDS, st.sampled_from(["auto", "openai_pairs", "sharegpt_pairs", "trl_pairs"]))
def test_in_lines(tmp_path_factory: Any, records: list[Any], format_: str) -> None:
    reading = read(folder(tmp_path_factory), lines(*records), format_=format_)
    holds_together(reading)


@settings(max_examples=150, deadline=None)
@given(records=st.lists(GOOD | NOISE, max_size=12))
def test_in_lines_mixed_with_noise(tmp_path_factory: Any, records: list[Any]) -> None:
    first = lines(trl(99))
    reading = read(folder(tmp_path_factory), first + lines(*records))
    holds_together(reading)
    blank = sum(isinstance(record, bytes) and not record.strip(b" \t\r") for record in records)
    assert reading.records == 1 + len(records) - blank


@settings(max_examples=150, deadline=None)
@given(records=RECORDS, indent=st.sampled_from([None, 1]), cut=st.integers(0, 200))
def test_in_arrays_whole_or_cut(
    tmp_path_factory: Any, records: list[Any], indent: int | None, cut: int
) -> None:
    whole = json.dumps(records, indent=indent).encode()
    reading = read(folder(tmp_path_factory), whole)
    holds_together(reading)
    assert reading.records == len(records)
    holds_together(read(folder(tmp_path_factory), whole[: len(whole) - cut]))


@settings(max_examples=150, deadline=None)
@given(noise=st.binary(max_size=60))
def test_in_files_of_noise(tmp_path_factory: Any, noise: bytes) -> None:
    holds_together(read(folder(tmp_path_factory), noise))
