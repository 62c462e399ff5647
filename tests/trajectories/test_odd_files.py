"""Files as people drop them by mistake: what they are told, and that intake says nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from odd_files import GOOD, ODD
from pair_files import trl
from whole_files import read_file

from contracts.limits import SNIFF_BYTES
from contracts.pipeline import DataRules
from lambdas.logic.sniff import sniff
from trajectories.validating import validate


@pytest.mark.parametrize("name", ODD)
def test_an_odd_file_is_told_what_it_is_and_what_to_do(tmp_path: Path, name: str) -> None:
    odd, path = ODD[name], tmp_path / "f"
    path.write_bytes(odd.content)
    found = validate(path, name="f", rules=DataRules())
    assert (found.usable, found.records) == (odd.usable, found.usable + found.rejected)
    told = [one for one in found.problems if odd.problem in one.problem]
    assert bool(told) == bool(odd.problem)
    assert all(odd.remedy in one.remedy for one in told)
    found.to_bytes()


@pytest.mark.parametrize("name", ODD)
def test_intake_refuses_nothing_of_which_a_record_is_usable(name: str) -> None:
    odd = ODD[name]
    if sniff(odd.content[:SNIFF_BYTES]) is not None:
        assert odd.usable == 0


@pytest.mark.parametrize("name", ["a zip", "a tar", "csv", "a pointer", "nothing but white space"])
def test_intake_refuses_what_can_be_seen_to_hold_no_record(name: str) -> None:
    assert sniff(ODD[name].content[:SNIFF_BYTES]) is not None


@pytest.mark.parametrize(
    "record",
    [
        b'{"prompt": "q", "chosen": "a", "rejected": "b", "\\ud83d": 1}\n',
        b'{"prompt": "q", "chosen": "a", "rejected": "b", "score\\ud83d": "\\ud83d"}\n',
    ],
)
def test_a_key_that_is_half_a_character_can_be_reported(tmp_path: Path, record: bytes) -> None:
    path = tmp_path / "f"
    path.write_bytes(GOOD + record)
    found = validate(path, name="f", rules=DataRules())
    assert (found.usable, found.rejected) == (12, 1)
    assert "\\ud83d" in found.problems[0].field
    assert b"half of a surrogate pair" in found.to_bytes()


def test_millions_of_blank_lines_take_seconds(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\n" * 2_000_000 + GOOD)
    begun = time.process_time()
    assert read_file(path, name="f").usable == 12
    assert time.process_time() - begun < 3, "under one; a fault for each line took ten"


def test_times_as_pandas_writes_them_cost_no_record(tmp_path: Path) -> None:
    path = tmp_path / "f"
    table = pa.Table.from_pylist([trl(number) for number in range(3)])
    for name, kind in (("at", pa.timestamp("ns")), ("took", pa.duration("ns"))):
        table = table.append_column(name, pa.array([10**18, 10**9, None], kind))
    pq.write_table(table, path)
    found = read_file(path, name="f")
    assert (found.usable, found.problems) == (3, ())
    assert found.pairs[0].metadata["at"] == "2001-09-09T01:46:40"
    assert found.pairs[1].metadata["took"] == 1.0
    assert "at" not in found.pairs[2].metadata


def test_a_column_that_is_there_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f"
    columns = [pa.array([text]) for text in ("q", "a", "b", "c")]
    names = ["prompt", "chosen", "rejected", "chosen"]
    pq.write_table(pa.Table.from_arrays(columns, names=names), path)
    found = read_file(path, name="f")
    assert (found.records, found.problems[0].problem) == (0, "f has the column 'chosen' twice")


def test_a_column_of_which_a_value_cannot_be_had_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f"
    table = pa.Table.from_pylist([trl(number) for number in range(3)])
    times = pa.array([1, 2**62, 3], pa.timestamp("us"))
    pq.write_table(table.append_column("at", times), path)
    found = read_file(path, name="f")
    assert (found.usable, found.records) == (2, 3)
    assert (found.problems[0].line, found.problems[0].field) == (2, "at")


def test_a_column_whose_pages_are_damaged_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f"
    records = [trl(number, note="x" * 3000) for number in range(600)]
    pq.write_table(
        pa.Table.from_pylist(records), path, row_group_size=200, compression="zstd",
        use_dictionary=False,
    )  # fmt: skip
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        place = file.metadata.row_group(1).column(file.metadata.num_columns - 1)
        assert names[-1] == "note"
        begin, size = place.data_page_offset, place.total_compressed_size
    content = bytearray(path.read_bytes())
    content[begin : begin + size] = b"\xff" * size
    path.write_bytes(content)
    found = read_file(path, name="f")
    assert found.usable == 200
    assert "whose column 'note' cannot be read after row 200" in found.problems[-1].problem
    assert found.problems[-1].remedy.endswith("or without that column")
