"""Parquet: rows as records, whatever Arrow made of them."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from episode_files import logged, talk
from pair_files import lines, openai, read, sharegpt, trl
from pyarrow.parquet import encryption
from whole_files import Reading, read_file

from trajectories import table_rows


def table(folder: Path, rows: list[dict[str, Any]], name: str = "f.parquet", **more: Any) -> Path:
    path = folder / name
    pq.write_table(pa.Table.from_pylist(rows), path, **more)
    return path


def reading(folder: Path, rows: list[dict[str, Any]], **more: Any) -> Reading:
    return read_file(table(folder, rows, **more), name="f.parquet")


@pytest.mark.parametrize("build", [trl, openai, sharegpt])
def test_a_table_gives_the_records_that_lines_give(tmp_path: Path, build: Any) -> None:
    rows = [build(number, score=number / 2) for number in range(300)]
    found = reading(tmp_path, rows, row_group_size=70)
    assert [pair.id for pair in found.pairs] == [
        pair.id for pair in read(tmp_path, lines(*rows)).pairs
    ]
    assert [pair.metadata["score"] for pair in found.pairs[:3]] == [0.0, 0.5, 1.0]
    assert found.evidence.startswith("a Parquet file; ")


def test_a_table_without_a_column_refuses_each_row_by_that_field(tmp_path: Path) -> None:
    rows = [{name: value for name, value in trl(1).items() if name != "chosen"} for _ in range(3)]
    found = reading(tmp_path, rows)
    assert (found.records, found.usable) == (3, 0)
    (problem,) = found.problems
    assert (problem.field, problem.problem, problem.count) == ("chosen", "is missing", 3)


def test_fields_that_other_rows_have_are_not_there_in_a_row_without_them(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    other = {"id": "d", "type": "function", "function": {"name": "g", "arguments": {"b": "x"}}}
    turns = [
        {"role": "user", "content": "do"},
        {"role": "assistant", "content": None, "tool_calls": [call, other]},
        {"role": "tool", "content": "done", "tool_call_id": "c"},
        {"role": "assistant", "content": "did"},
    ]
    found = reading(
        tmp_path, [{"messages": turns, "label": None}, {"messages": talk("a", "b"), "label": True}]
    )
    assert found.problems == ()
    calling = found.trajectories[0].messages[1]
    assert [one.arguments for one in calling.tool_calls] == ['{"a":1}', '{"b":"x"}']
    assert found.trajectories[0].metadata == {}
    assert (found.trajectories[0].label, found.trajectories[1].label) == (None, True)


def test_arrow_s_own_values_become_json(tmp_path: Path) -> None:
    rows = [
        trl(
            1,
            at=dt.datetime(2026, 1, 2, 3, 4, 5),
            day=dt.date(2026, 1, 2),
            took=dt.timedelta(seconds=1.5),
            price=decimal.Decimal("1.50"),
            raw=b"\xff\x00",
            text=b"plain",
            nothing=float("nan"),
        )
    ]
    (pair,) = reading(tmp_path, rows).pairs
    digest = pair.metadata.pop("raw")
    assert isinstance(digest, str)
    assert digest.startswith("sha256:")
    assert pair.metadata == {
        "at": "2026-01-02T03:04:05",
        "day": "2026-01-02",
        "took": 1.5,
        "price": "1.50",
        "text": "plain",
        "nothing": None,
    }


def test_images_in_a_table_become_references_by_path_or_digest(tmp_path: Path) -> None:
    prompt = [{"role": "user", "content": "<image><image>what?"}]
    images = [{"bytes": b"\x89PNG\xff", "path": None}, {"bytes": None, "path": "a/b.png"}]
    (found,) = reading(
        tmp_path, [{"data_source": "x", "prompt": prompt, "images": images, "ability": "see"}]
    ).trajectories
    first, second = found.messages[0].images
    assert first.startswith("sha256:")
    assert second == "a/b.png"


@pytest.mark.parametrize(("reward", "words"), [(float("nan"), "is NaN"), (float("inf"), "finite")])
def test_a_reward_that_is_no_number_is_refused(tmp_path: Path, reward: float, words: str) -> None:
    found = reading(tmp_path, [logged(1, reward=reward), logged(2, reward=0.5)])
    assert (found.records, found.usable) == (2, 1)
    assert words in found.problems[0].problem


def test_whole_numbers_that_became_floats_name_the_same_task(tmp_path: Path) -> None:
    found = reading(tmp_path, [logged(3, task_id=3.0, trial=1.0)])
    assert (found.trajectories[0].task, found.trajectories[0].trial) == ("3", "1")


class Keys(encryption.KmsClient):
    """Keeps keys by not keeping them."""

    def __init__(self, _config: encryption.KmsConnectionConfig) -> None:
        super().__init__()

    def wrap_key(self, key: bytes, _master: str) -> bytes:
        return base64.b64encode(key)

    def unwrap_key(self, wrapped: bytes, _master: str) -> bytes:
        return base64.b64decode(wrapped)


@pytest.mark.parametrize("plain_footer", [False, True])
def test_an_encrypted_table_is_said_to_be_encrypted(tmp_path: Path, *, plain_footer: bool) -> None:
    path = tmp_path / "f.parquet"
    rows = pa.table({"prompt": ["a"], "chosen": ["b"], "rejected": ["c"]})
    wanted = encryption.EncryptionConfiguration(
        footer_key="k", column_keys={"k": ["chosen"]}, plaintext_footer=plain_footer
    )
    factory = encryption.CryptoFactory(Keys)
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), wanted)
    with pq.ParquetWriter(path, rows.schema, encryption_properties=properties) as writer:
        writer.write_table(rows)
    found = read_file(path, name="f.parquet")
    assert (found.records, found.usable, found.problem_count) == (0, 0, 1)
    assert found.problems[0].problem == "f.parquet is an encrypted Parquet file"


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_table_that_is_cut_off_is_one_problem(tmp_path: Path, kept: float) -> None:
    path = table(tmp_path, [trl(number) for number in range(500)])
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    found = read_file(path, name="f.parquet")
    assert (found.records, found.usable, found.problem_count) == (0, 0, 1)
    assert "is Parquet that cannot be read" in found.problems[0].problem


def test_damage_in_a_later_row_group_keeps_the_rows_before_it(tmp_path: Path) -> None:
    path = table(
        tmp_path, [trl(number) for number in range(2000)], row_group_size=100, compression="zstd"
    )
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4000] = b"\xff" * 4000
    path.write_bytes(content)
    found = read_file(path, name="f.parquet")
    assert 0 < found.usable < 2000
    assert f"cannot be read after row {found.records}" in found.problems[-1].problem


def test_a_row_whose_text_is_no_text_costs_only_itself(tmp_path: Path) -> None:
    path = table(tmp_path, [trl(n, chosen=f"good {n}") for n in range(30)], compression="none")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"good 17", b"g\xff\xfed 17"))
    found = read_file(path, name="f.parquet")
    assert (found.records, found.usable) == (30, 29)
    (problem,) = found.problems
    assert (problem.line, problem.field) == (18, "chosen")
    assert problem.problem.startswith("holds a value that cannot be read: 'utf-8' codec")


def test_an_empty_table_holds_no_record(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"prompt": pa.array([], pa.string())}), path)
    assert read_file(path, name="f").problems[0].problem == "f holds no record"


def test_large_values_are_decoded_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path, [trl(number, chosen="x" * 300_000) for number in range(8)])
    for held, rows in ((3 * 1024**2, 10), (1024**2, 4), (1024**4, 256)):
        monkeypatch.setattr(table_rows, "HELD_BYTES", held)
        with pq.ParquetFile(path) as file:
            assert table_rows._rows_at_once(file) == rows
    assert read_file(path, name="f").usable == 8
