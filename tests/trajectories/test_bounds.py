"""Files that are too large in some way: bounded in memory and in time, and said by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from form_files import chat
from pair_files import lines, only_problem, read, trl

ROOT = Path(__file__).parents[2]
PROGRAM = """
import resource, sys
from pathlib import Path
from trajectories.reading import Reader

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

path = Path(sys.argv[1])
import trajectories.table_rows, pyarrow.parquet, zstandard
before = peak()
reader = Reader(path, name="f")
made = sum(1 for _ in reader)
print(peak() - before, made, reader.records, reader.problem_count, sep="\\n")
for problem in reader.problems:
    print(problem.problem)
"""


def measured(path: Path) -> tuple[int, int, int, list[str]]:
    """Peak MiB more than before, usable, records, and the problems' words."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )
    more, made, records, _, *words = done.stdout.splitlines()
    return int(more), int(made), int(records), words


def test_a_line_of_200_mb_is_skipped_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.write(lines(trl(1)) + b'{"prompt": "')
        for _ in range(200):
            file.write(b"a" * 1_000_000)
        file.write(b'", "chosen": "b", "rejected": "c"}\n' + lines(trl(2)))
    more, made, records, words = measured(path)
    assert (made, records, words) == (2, 3, ["is longer than 8 MiB"])
    assert more < 60


def test_a_record_of_200_mb_in_an_array_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.write(b"[" + lines(trl(1)).strip() + b', {"prompt": "')
        for _ in range(200):
            file.write(b"a" * 1_000_000)
        file.write(b'"}]')
    more, made, records, words = measured(path)
    assert (made, records) == (1, 2)
    assert words == ["is longer than 8 MiB (nothing after it could be read)"]
    assert more < 120


@pytest.mark.parametrize("form", ["lines", "array", "gz", "zst", "parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, form: str) -> None:
    path = tmp_path / "f"
    records = [chat(number, pad=f"{number:09}" * 20 + "x" * 4000) for number in range(12_000)]
    write(path, form, records)
    more, made, _, words = measured(path)
    assert (made, words) == (12_000, [])
    assert more < 100, "of 55 MB that 12,000 records are"


def write(path: Path, form: str, records: list[dict[str, object]]) -> None:
    if form == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(records), path, compression="none")
        return
    content = json.dumps(records).encode() if form == "array" else lines(*records)
    if form == "gz":
        import gzip

        content = gzip.compress(content, 1) + gzip.compress(b"")
    if form == "zst":
        import zstandard

        content = b"".join(
            zstandard.compress(content[at : at + 100_000]) for at in range(0, len(content), 100_000)
        )
    path.write_bytes(content)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"b":'])
@pytest.mark.parametrize("depth", [65, 10_000, 1_000_000])
@pytest.mark.parametrize("closed", [False, True])
def test_nesting_however_deep_costs_neither_stack_nor_time(
    tmp_path: Path, opening: bytes, depth: int, *, closed: bool
) -> None:
    close = {b"[": b"]", b'{"a":': b"}", b'[{"b":': b"}]"}[opening]
    deep = opening * depth + b"1" + (close * depth if closed else b"")
    reading = read(tmp_path, lines(trl(1), deep, trl(2)))
    assert (reading.records, reading.usable) == (3, 2)
    long = "is longer than 8 MiB" in only_problem(reading)[2]
    assert long or "is nested deeper than 64" in only_problem(reading)[2]
    array = read(tmp_path, b"[" + lines(trl(1)).strip() + b"," + deep + b"]")
    assert (array.records, array.usable) == (2, 1)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": "' + b'\\"' * 1_000_000 + b'"}',
        b'{"a": "' + b'\\":' * 1_000_000 + b'"}',
        b'{"a": [' + b"1," * 1_000_000 + b"1]}",
        b'{"a": "' + b" :" * 1_000_000 + b'"}',
        b'{"a": "' + b"\\\\" * 1_000_000,
        b" " * 4_000_000 + b"{",
        b'{"a": ' + b"-" * 1_000_000,
        b'{"a": ' + b"[]," * 100_000,
    ],
)
def test_no_line_takes_longer_than_its_length(tmp_path: Path, line: bytes) -> None:
    import time

    began = time.process_time()
    reading = read(tmp_path, lines(chat(1), line, chat(2)))
    array = read(tmp_path, b"[" + lines(chat(1)).strip() + b"," + line + b"]")
    assert time.process_time() - began < 10
    assert (reading.records, reading.usable) == (3, 2)
    assert array.records == array.usable + array.rejected == 2
