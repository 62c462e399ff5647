"""`relay validate FOLDER`: the folder as the one drop it would be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from control_planes import Relay


def pairs(first: int, count: int) -> str:
    rows = [
        {"prompt": f"question {n}", "chosen": "good", "rejected": "bad"}
        for n in range(first, first + count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "day"
    (made / "deep").mkdir(parents=True)
    (made / "a.jsonl").write_text(pairs(0, 40))
    (made / "deep" / "b.jsonl").write_text(pairs(20, 40) + '{"prompt": 1}\n')
    (made / "_SUCCESS").write_text("")
    (made / ".a.jsonl.crc").write_bytes(b"\x00")
    return made


def test_files_are_read_each_and_judged_together(relay: Relay, folder: Path) -> None:
    ended = relay("validate", str(folder), "-o", "json")
    assert ended.code == 0, ended.err
    told = ended.json
    assert [one["file"] for one in told["files"]] == ["a.jsonl", "deep/b.jsonl"]
    assert (told["records"], told["usable"], told["rejected"]) == (81, 80, 1)
    assert told["training"] + told["held_out"] == 60
    (problem,) = told["problems"]
    assert problem["line"] == 41
    assert "deep/b.jsonl: " in problem["problem"]
    assert "80 of 81 usable" in relay("validate", str(folder)).out


def test_a_file_with_too_many_bad_records_gives_nothing(relay: Relay, folder: Path) -> None:
    (folder / "c.jsonl").write_text(pairs(100, 3) + "{broken\n" * 5)
    recipe = folder.parent / "recipe.yaml"
    recipe.write_text(
        "name: tone\nrounds: [{optimize: {algorithm: dpo}}]\ndata: {max_bad_share: 0.5}\n"
    )
    told = relay("validate", str(folder), "--pipeline", str(recipe), "-o", "json").json
    assert [one["usable"] for one in told["files"]] == [40, 0, 40]


@pytest.mark.parametrize("names", [[], ["_SUCCESS"], [".hidden"]])
def test_a_folder_without_a_file_is_said_to_be_none(
    relay: Relay, tmp_path: Path, names: list[str]
) -> None:
    made = tmp_path / "empty"
    made.mkdir()
    for name in names:
        (made / name).write_text("x")
    ended = relay("validate", str(made))
    assert ended.code == 1
    assert "holds no file" in ended.err
