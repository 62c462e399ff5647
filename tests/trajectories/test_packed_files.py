"""gzip and zstd: read as streams, bounded, and honest about where they break."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from pathlib import Path

import pytest
import zstandard
from pair_files import lines, only_problem, read, trl

from trajectories.reading import Reader
from trajectories.unpacking import Bounds, unpack

RECORDS = [trl(number, chosen=f"good {os.urandom(40).hex()}") for number in range(400)]
PLAIN = lines(*RECORDS)
PACK = {"gzip": gzip.compress, "zstd": zstandard.compress}
SUFFIX = {"gzip": "gz", "zstd": "zst"}


@pytest.mark.parametrize("packing", PACK)
def test_a_packed_file_gives_the_same_records_and_says_how_it_is_packed(
    tmp_path: Path, packing: str
) -> None:
    plain = read(tmp_path, PLAIN)
    packed = read(tmp_path, PACK[packing](PLAIN), name=f"f.jsonl.{SUFFIX[packing]}")
    assert packed.pairs == plain.pairs
    assert packed.evidence.startswith(f"one JSON record a line, compressed with {packing};")


@pytest.mark.parametrize("packing", PACK)
def test_several_members_follow_one_another(tmp_path: Path, packing: str) -> None:
    half = len(PLAIN) // 2
    members = PACK[packing](PLAIN[:half]) + PACK[packing](b"") + PACK[packing](PLAIN[half:])
    assert read(tmp_path, members).usable == 400


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_file_that_is_cut_off_gives_what_was_before_and_says_so(
    tmp_path: Path, packing: str, kept: float
) -> None:
    whole = PACK[packing](PLAIN)
    reading = read(tmp_path, whole[: int(len(whole) * kept)])
    assert reading.records == reading.usable + reading.rejected
    if packing == "gzip":
        assert 60 < reading.usable < 400
    last = reading.problems[-1]
    assert last.problem == f"f.jsonl is cut off: its {packing} data has no end"
    assert reading.rejected <= 1, "half a line"


def test_a_cut_between_zstd_frames_keeps_the_whole_frames(tmp_path: Path) -> None:
    frames = b"".join(zstandard.compress(lines(record)) for record in RECORDS)
    reading = read(tmp_path, frames[: len(frames) // 2])
    assert 150 < reading.usable < 250
    assert "is cut off" in reading.problems[-1].problem


@pytest.mark.parametrize("packing", PACK)
def test_damage_is_a_problem_of_the_file(tmp_path: Path, packing: str) -> None:
    whole = bytearray(PACK[packing](PLAIN))
    whole[len(whole) // 2] ^= 0xFF
    whole[-6] ^= 0xFF
    reading = read(tmp_path, bytes(whole))
    assert reading.records == reading.usable + reading.rejected
    assert f"its {packing} data does not unpack" in reading.problems[-1].problem


@pytest.mark.parametrize("packing", PACK)
def test_what_follows_the_packed_data_is_a_problem_and_zeros_are_padding(
    tmp_path: Path, packing: str
) -> None:
    reading = read(tmp_path, PACK[packing](PLAIN) + b"something else")
    assert reading.usable == 400
    assert "goes on after its" in only_problem(reading)[2]
    if packing == "gzip":
        assert read(tmp_path, gzip.compress(PLAIN) + b"\0" * 1000).problems == ()


def test_skippable_zstd_frames_are_skipped(tmp_path: Path) -> None:
    skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    content = skipped + zstandard.compress(PLAIN) + skipped
    assert read(tmp_path, content).usable == 400


@pytest.mark.parametrize("packing", PACK)
def test_a_bomb_is_stopped_by_its_ratio_and_what_was_before_it_is_kept(
    tmp_path: Path, packing: str
) -> None:
    content = PACK[packing](lines(*RECORDS[:10]) + b" " * 100_000_000)
    reading = read(tmp_path, content)
    assert reading.usable == 10
    assert "unpacks to more than 200 times its size" in reading.problems[-1].problem


def test_a_bomb_is_stopped_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "f.gz"
    path.write_bytes(gzip.compress(PLAIN))
    reader = Reader(path, name="f.gz", bounds=Bounds(bytes_max=64 * 1024))
    made = list(reader)
    assert 0 < len(made) < 400
    assert reader.records == reader.usable + reader.rejected
    assert "unpacks to more than 0 MiB" in reader.problems[-1].problem


def test_no_step_of_unpacking_a_bomb_holds_much() -> None:
    bomb = zstandard.compress(b"\0" * 300_000_000)
    stream = unpack(io.BytesIO(bomb), "zstd", Bounds(ratio=10**9))
    assert stream is not None
    largest = 0
    while size := stream.readinto(bytearray(1024**2)):
        largest = max(largest, size, len(stream._ready))
    assert largest < 64 * 1024**2


def test_a_torn_record_at_the_cut_is_that_record_only(tmp_path: Path) -> None:
    stream = zlib.compressobj(wbits=31)
    content = stream.compress(PLAIN[:-20]) + stream.flush(zlib.Z_SYNC_FLUSH)
    reading = read(tmp_path, content)
    assert (reading.records, reading.usable) == (400, 399)
    assert [one.problem for one in reading.problems] == [
        "ends in the middle",
        "f.jsonl is cut off: its gzip data has no end",
    ]


@pytest.mark.parametrize(
    ("name", "content", "remark"),
    [
        ("f.jsonl", gzip.compress(PLAIN), "although its name ends in .jsonl"),
        ("f.jsonl.gz", PLAIN, "although its name ends in .jsonl.gz"),
        ("f.parquet", PLAIN, "although its name ends in .parquet"),
        ("f.jsonl.zst", gzip.compress(PLAIN), "although its name ends in .jsonl.zst"),
        ("f.jsonl.gz", gzip.compress(PLAIN), ""),
        ("f.gz", gzip.compress(PLAIN), ""),
        ("f.json", PLAIN, ""),
        ("f", gzip.compress(PLAIN), ""),
        ("part-0.v2", PLAIN, ""),
    ],
)
def test_a_wrong_suffix_is_remarked_on_and_ignored(
    tmp_path: Path, name: str, content: bytes, remark: str
) -> None:
    reading = read(tmp_path, content, name=name)
    assert reading.usable == 400
    assert ("although" in reading.evidence) is bool(remark)
    assert remark in reading.evidence
