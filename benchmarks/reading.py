"""How fast records are read, end to end, and in how much memory.

`python benchmarks/reading.py` writes files of chat records of 2 to 5 kB, reads each by `Reader`
into canonical trajectories, and tells MB of JSON a second of one core's time, over the whole file
and over the best thousand records (a machine that others use slows the rest), and the peak
resident memory of the process that read. `--gigabytes 5` makes the files that large; `--form`
chooses what they hold.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from trajectories.reading import Reader

SENTENCE = (
    "the policy of an airline agent says that every reservation needs a member id and a card; "
    'please write "yes" to go on: your flight HAT136 leaves at 11:40 and lands in Santa Barbara\n'
)
WORDS = SENTENCE.split(" ")
ELSEWHERE = [*WORDS, "Düsseldorf", "🛬"]
"""Words of one turn in five."""
SLICE = 1000
FORMS = ("jsonl", "json", "jsonl.gz", "jsonl.zst", "parquet")


def chat(random_: random.Random, number: int) -> dict[str, object]:
    """A conversation of 2 to 5 kB, some turns of which call a tool."""
    turns: list[dict[str, object]] = [{"role": "system", "content": "You are a helpful agent."}]
    for place in range(random_.randrange(4, 11)):
        words = WORDS if random_.randrange(5) else ELSEWHERE
        said = " ".join(random_.choices(words, k=random_.randrange(30, 110)))
        turns.append({"role": "assistant" if place % 2 else "user", "content": said})
    if number % 4 == 0:
        call = {"name": "find", "arguments": json.dumps({"id": number})}
        turns += [
            {"role": "user", "content": f"Find {number}."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": "{}"},
        ]
    turns.append({"role": "assistant", "content": f"That is all about {number}."})
    return {"messages": turns, "source": "benchmark", "number": number}


def blocks(size: int) -> Iterator[list[str]]:
    """Lines of distinct records up to a size; what differs in later blocks is their numbers."""
    random_ = random.Random(7)  # noqa: S311 - data, not a secret
    lines = [json.dumps(chat(random_, number), ensure_ascii=False) for number in range(2000)]
    written, block = 0, 1
    while written < size:
        made = [line.replace('"number": ', f'"number": {block}') for line in lines]
        yield made
        written += sum(len(line.encode()) + 1 for line in made)
        block += 1


def write(path: Path, form: str, size: int) -> int:
    """Write a file of about `size` bytes of JSON; exactly how many, as lines."""
    if form == "parquet":
        return _write_parquet(path, size)
    opening, between, end = (b"[", b",\n", b"]") if form == "json" else (b"", b"\n", b"\n")
    written = 0
    with _opened(path, form) as file:
        for place, lines in enumerate(blocks(size)):
            made = between.join(line.encode() for line in lines)
            file.write((between if place else opening) + made)
            written += len(made) + 1
        file.write(end)
    return written


def _opened(path: Path, form: str):  # noqa: ANN202 - one of three libraries' own
    if form == "jsonl.gz":
        return gzip.open(path, "wb", compresslevel=1)
    if form == "jsonl.zst":
        import zstandard

        return zstandard.open(path, "wb")
    return path.open("wb")


def _write_parquet(path: Path, size: int) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    written = 0
    for lines in blocks(size):
        table = pa.Table.from_pylist([json.loads(line) for line in lines])
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table.cast(writer.schema))
        written += sum(len(line.encode()) + 1 for line in lines)
    if writer:
        writer.close()
    return written


def read(path: Path, size: int) -> None:
    """Read a file of `size` bytes of JSON and print the figures."""
    reader = Reader(path, name=path.name)
    records = iter(reader)
    wall, processor = time.perf_counter(), time.process_time()
    usable, slices = 0, []
    while True:
        began = time.process_time()
        taken = sum(1 for _ in islice(records, SLICE))
        usable += taken
        if taken < SLICE:
            break
        slices.append(time.process_time() - began)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert usable == reader.usable == reader.records, reader.problems
    best = size / usable * SLICE / min(slices)
    print(
        f"{path.name:18} {size / 1e6:6,.0f} MB of JSON ({path.stat().st_size / 1e6:,.0f} on disk), "
        f"{usable:9,} records: {size / 1e6 / processor:5.1f} MB/s of processor time, "
        f"{best / 1e6:5.1f} at best, {size / 1e6 / wall:5.1f} of wall time; "
        f"peak memory {peak:.0f} MiB",
        flush=True,
    )


def main() -> None:
    """Write, then read in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=0.2)
    parser.add_argument("--form", choices=FORMS, action="append")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.read:
        read(asked.read, asked.size)
        return
    for form in asked.form or FORMS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"records.{form}")
            size = write(path, form, int(asked.gigabytes * 1e9))
            command = [sys.executable, __file__, "--read", str(path), "--size", str(size)]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
