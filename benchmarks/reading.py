"""How fast records are read, end to end, and in how much memory.

`python benchmarks/reading.py` writes a file of chat records of 2 to 5 kB, reads it by `Reader`
into canonical trajectories, and tells MB of file a second of one core's time (wall time is of the
machine's, which others use) and the peak resident memory of the process that read. `--gigabytes
5` makes the file that large; `--form` chooses what it holds.
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
from pathlib import Path

from trajectories.reading import Reader

WORDS = (
    "the policy of an airline agent says that every reservation needs a member id and a card; "
    'please write "yes" to go on: your flight HAT136 leaves at 11:40 and lands in Düsseldorf 🛬\n'
).split(" ")
MEBIBYTE = 1024**2
FORMS = ("jsonl", "json", "jsonl.gz", "jsonl.zst", "parquet")


def chat(random_: random.Random, number: int) -> dict[str, object]:
    """A conversation of 2 to 5 kB, some turns of which call a tool."""
    turns: list[dict[str, object]] = [{"role": "system", "content": "You are a helpful agent."}]
    for place in range(random_.randrange(4, 11)):
        said = " ".join(random_.choices(WORDS, k=random_.randrange(30, 110)))
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
    random_ = random.Random(7)
    lines = [json.dumps(chat(random_, number), ensure_ascii=False) for number in range(2000)]
    written, block = 0, 1
    while written < size:
        made = [line.replace('"number": ', f'"number": {block}') for line in lines]
        yield made
        written += sum(len(line.encode()) + 1 for line in made)
        block += 1


def write(path: Path, form: str, size: int) -> None:
    """Write a file of about `size` bytes of JSON."""
    if form == "parquet":
        _write_parquet(path, size)
    elif form == "json":
        with path.open("w", encoding="utf-8") as file:
            file.write("[")
            for place, lines in enumerate(blocks(size)):
                file.write((",\n" if place else "") + ",\n".join(lines))
            file.write("]")
    else:
        with _opened(path, form) as file:
            for lines in blocks(size):
                file.write(("\n".join(lines) + "\n").encode())


def _opened(path: Path, form: str):  # noqa: ANN202 - one of three libraries' own
    if form == "jsonl.gz":
        return gzip.open(path, "wb", compresslevel=1)
    if form == "jsonl.zst":
        import zstandard

        return zstandard.open(path, "wb")
    return path.open("wb")


def _write_parquet(path: Path, size: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for lines in blocks(size):
        table = pa.Table.from_pylist([json.loads(line) for line in lines])
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table.cast(writer.schema))
    if writer:
        writer.close()


def read(path: Path) -> None:
    """Read a file and print the figures."""
    size = path.stat().st_size
    reader = Reader(path, name=path.name)
    wall, processor = time.perf_counter(), time.process_time()
    usable = sum(1 for _ in reader)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert usable == reader.usable == reader.records, reader.problems
    print(
        f"{path.suffixes[-1][1:]:8} {size / 1e6:8.0f} MB, {usable:,} records: "
        f"{size / 1e6 / processor:6.1f} MB/s of processor time, {size / 1e6 / wall:6.1f} MB/s of "
        f"wall time, peak memory {peak:.0f} MiB"
    )


def main() -> None:
    """Write, then read in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=0.2)
    parser.add_argument("--form", choices=FORMS, action="append")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.read:
        read(asked.read)
        return
    for form in asked.form or FORMS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"records.{form}")
            write(path, form, int(asked.gigabytes * 1e9))
            subprocess.run([sys.executable, __file__, "--read", str(path)], check=True)


if __name__ == "__main__":
    main()
