"""Why a job waits, as a run's story, its picture and its lines tell it."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from stories import BEGUN, at, attempt, progress, record, visits

from relay.console.run_drawing import RunDrawing
from relay.console.run_lines import lines_between
from relay.console.story import RunStory
from relay.console.storytelling import Sources, tell

WHY = "queued: waiting for quota: couldn't assign flavors to pod set gpu"


def collecting(**changed: Any) -> RunStory:
    attempts = [attempt("collect", **changed)]
    return tell(Sources(record(), attempts, visits(*BEGUN), "arn", status="RUNNING"))


def waits(story: RunStory) -> str:
    (found,) = [it.waiting for state in story.states for it in state.attempts]
    return found


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ({"status": "SUBMITTED", "waiting": WHY}, WHY),
        ({"status": "SUBMITTED"}, ""),
        ({"status": "RUNNING", "waiting": WHY, "progress": progress("collect", 1, 1)}, ""),
        (
            {
                "status": "RUNNING",
                "waiting": WHY,
                "progress": progress("collect", 1, 1),
                "queued_at": at(60),
            },
            WHY,
        ),
        (
            {
                "status": "RUNNING",
                "waiting": WHY,
                "progress": progress("collect", 1, 1),
                "queued_at": at(5),
            },
            "",
        ),
        ({"status": "FAILED", "waiting": WHY, "error": "JobNotStarted"}, ""),
    ],
    ids=["at first", "nobody looked yet", "spoke since", "preempted", "runs again", "ended"],
)
def test_a_job_waits_until_it_speaks(changed: dict[str, Any], shown: str) -> None:
    assert waits(collecting(**changed)) == shown


def test_a_picture_and_lines_say_why_it_waits_once() -> None:
    before, after = collecting(status="SUBMITTED"), collecting(status="SUBMITTED", waiting=WHY)
    out = io.StringIO()
    Console(file=out, width=160, color_system=None).print(RunDrawing().draw(after, at(60)))
    assert WHY in out.getvalue()
    assert [line for line in lines_between(before, after) if WHY in line] != []
    assert [line for line in lines_between(after, after) if WHY in line] == []
