"""Builders: records of each format, and files that hold them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whole_files import Reading, read_file


def turn(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def trl(number: int = 0, **changes: Any) -> dict[str, Any]:
    record = {
        "prompt": [turn("user", f"question {number}")],
        "chosen": [turn("assistant", f"good {number}")],
        "rejected": [turn("assistant", f"bad {number}")],
    }
    return {**record, **changes}


def openai(number: int = 0, **changes: Any) -> dict[str, Any]:
    record = {
        "input": {
            "messages": [turn("user", f"question {number}")],
            "tools": [],
            "parallel_tool_calls": True,
        },
        "preferred_output": [turn("assistant", f"good {number}")],
        "non_preferred_output": [turn("assistant", f"bad {number}")],
    }
    return {**record, **changes}


def sharegpt(number: int = 0, **changes: Any) -> dict[str, Any]:
    record = {
        "conversations": [{"from": "human", "value": f"question {number}"}],
        "chosen": {"from": "gpt", "value": f"good {number}"},
        "rejected": {"from": "gpt", "value": f"bad {number}"},
    }
    return {**record, **changes}


def lines(*records: Any) -> bytes:
    """JSON Lines; a record given as bytes is put as it is."""
    made = [
        record if isinstance(record, bytes) else json.dumps(record).encode() for record in records
    ]
    return b"".join(line + b"\n" for line in made)


def read(folder: Path, content: bytes, *, format_: str = "auto", name: str = "f.jsonl") -> Reading:
    path = folder / name
    path.write_bytes(content)
    return read_file(path, name=name, format=format_)


def only_problem(reading: Reading) -> tuple[int, str, str]:
    """Line, field and words of the one problem; its remedy must say something."""
    assert reading.problem_count == len(reading.problems) == 1, reading.problems
    (problem,) = reading.problems
    assert problem.remedy
    return problem.line, problem.field, problem.problem
