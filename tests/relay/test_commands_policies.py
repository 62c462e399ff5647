"""`relay policies`."""

from __future__ import annotations

from pathlib import Path

import pytest
from control_planes import Relay, Stack, publish
from job_objects import BUCKET
from stories import RUN

from contracts import layout
from contracts.artifact import MANIFEST

EXAMPLE = Path(__file__).parents[2] / "examples" / "preferences"


FILES = {"config.json": b"{}", "deep/model.safetensors": b"weights"}


def test_policies_are_listed_with_the_current_one_marked(relay: Relay, stack: Stack) -> None:
    publish(stack, FILES)
    found = relay("policies", "preferences", "-o", "json").json
    assert [(one["version"], one["current"]) for one in found] == [(0, True)]
    assert "v0 (current)" in relay("policies", "preferences").out
    assert relay("policies", "nobody").code == 3


@pytest.mark.parametrize(
    ("metrics", "column", "value"),
    [
        ({"end_accuracy": 0.9}, "accuracy", "90.0 %"),
        ({"end_success_rate": 0.972, "end_mean_reward": 0.8}, "success", "97.2 %"),
        (
            {"end_label_accuracy": 0.9, "label_accuracy_gain": 0.1, "end_likelihood": -2.0},
            "likelihood",
            "-2.000",
        ),
    ],
)
def test_the_list_says_how_good_each_version_is(
    relay: Relay, stack: Stack, metrics: dict[str, float], column: str, value: str
) -> None:
    publish(stack, FILES, metrics)
    shown = relay("policies", "preferences").out
    assert column in shown
    assert value in shown


@pytest.mark.parametrize("version", ["0", "v0", "current"])
def test_a_policy_is_fetched_whole(relay: Relay, stack: Stack, version: str) -> None:
    publish(stack, FILES)
    ended = relay("policies", "preferences", "--download", version, "a/new/folder", "-o", "json")
    assert (ended.code, ended.json["bytes"]) == (0, 9)
    found = {
        str(path.relative_to("a/new/folder")): path.read_bytes()
        for path in Path("a/new/folder").rglob("*")
        if path.is_file()
    }
    assert found == FILES
    assert [path.name for path in Path("a/new").iterdir()] == ["folder"]


def test_a_version_that_is_not_there_is_not_found(relay: Relay, stack: Stack) -> None:
    publish(stack, FILES)
    assert relay("policies", "preferences", "--download", "7", "f").code == 3


def test_a_folder_that_holds_something_is_left_alone(relay: Relay, stack: Stack) -> None:
    publish(stack, FILES)
    Path("f").mkdir()
    Path("f/mine").write_text("x")
    ended = relay("policies", "preferences", "--download", "current", "f")
    assert ended.code == 4
    assert [path.name for path in Path("f").iterdir()] == ["mine"]


@pytest.mark.parametrize("name", ["config.json", MANIFEST])
def test_a_damaged_policy_leaves_no_folder(relay: Relay, stack: Stack, name: str) -> None:
    publish(stack, FILES)
    key = f"{layout.policy('preferences', RUN)}{name}"
    stack.s3.put_object(Bucket=BUCKET, Key=key, Body=b"!}")
    ended = relay("policies", "preferences", "--download", "current", "f")
    assert ended.code == 1
    assert name in ended.err
    assert not Path("f").exists()
    assert list(Path.cwd().iterdir()) == []
