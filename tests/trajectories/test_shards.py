"""Shards give back what was put in, in its order, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.errors import ContractBroken
from trajectories import shards
from trajectories.message import Message, ToolCall
from trajectories.pair import Pair
from trajectories.shards import read_shards, write_shards
from trajectories.trajectory import Trajectory

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
CALLS = st.builds(ToolCall, id=TEXT, name=TEXT, arguments=TEXT)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=TEXT,
    reasoning=TEXT,
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
    tool_call_id=TEXT,
    name=TEXT,
    images=st.lists(TEXT, max_size=2).map(tuple),
    reward=st.none() | st.floats(-1e6, 1e6),
    learnt=st.booleans(),
)
TURNS = st.lists(MESSAGES, max_size=3)
METADATA = st.dictionaries(TEXT, st.none() | st.integers(-5, 5) | TEXT | st.lists(TEXT), max_size=2)
PAIRS = st.builds(Pair.of, TURNS, TURNS, TURNS, tools=TEXT, task=TEXT, metadata=METADATA)
TRAJECTORIES = st.builds(
    Trajectory.of,
    st.text("abc", min_size=1, max_size=3),
    TEXT,
    st.none() | st.floats(-1e6, 1e6),
    TURNS,
    label=st.none() | st.booleans(),
    tools=TEXT,
    metadata=METADATA,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(records=st.lists(PAIRS | TRAJECTORIES, max_size=9), rows=st.integers(1, 4))
def test_what_is_read_is_what_was_written_in_its_order(
    records: list[Pair | Trajectory],
    rows: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD_ROWS_MAX", rows)
        assert write_shards(folder, "train", iter(records)) == len(records)
    assert list(read_shards(folder, "train")) == records
    assert len(list(folder.glob("train-*.parquet"))) == max(1, -(-len(records) // rows))


def test_nothing_is_a_shard_without_rows_and_another_name_is_another_set(tmp_path: Path) -> None:
    assert write_shards(tmp_path, "train", []) == 0
    assert list(read_shards(tmp_path, "train")) == []
    with pytest.raises(ContractBroken, match="no shard of held_out"):
        list(read_shards(tmp_path, "held_out"))


def one(content: str) -> Trajectory:
    turns = [Message(role="user", content="?"), Message(role="assistant", content=content)]
    return Trajectory.of("t", "", 1.0, turns)


def test_row_groups_and_shards_are_bounded_by_their_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "GROUP_BYTES_MAX", 3_000)
    monkeypatch.setattr(shards, "SHARD_BYTES_MAX", 6_000)
    assert write_shards(tmp_path, "train", (one(f"{n}" * 900) for n in range(10))) == 10
    paths = sorted(tmp_path.glob("*.parquet"))
    assert len(paths) > 1
    assert pq.ParquetFile(paths[0]).num_row_groups == 2


def test_a_record_whose_id_is_not_its_digest_is_refused(tmp_path: Path) -> None:
    write_shards(tmp_path, "train", [one("good"), one("bad")])
    path = tmp_path / "train-00000.parquet"
    table = pq.read_table(path)
    texts = [text.replace("bad", "worse") for text in table["messages"].to_pylist()]
    place = table.schema.get_field_index("messages")
    pq.write_table(table.set_column(place, "messages", pa.array(texts)), path)
    with pytest.raises(ContractBroken, match="row 2: the record's id is not the digest"):
        list(read_shards(tmp_path, "train"))


@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda _: b"no parquet"])
def test_a_broken_shard_is_refused_by_its_path(tmp_path: Path, spoil) -> None:
    write_shards(tmp_path, "train", [one("good")])
    path = tmp_path / "train-00000.parquet"
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ContractBroken, match=str(path)):
        list(read_shards(tmp_path, "train"))


def test_a_parquet_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["x"]}), tmp_path / "train-00000.parquet")
    with pytest.raises(ContractBroken, match="row 1"):
        list(read_shards(tmp_path, "train"))
