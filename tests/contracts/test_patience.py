"""Which limits of a recipe contradict one another: none may hide another for good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from contracts.limits import HEARTBEAT_MIN_S, PROGRESS_INTERVAL_MAX_S
from contracts.pipeline import Patience, Pipeline

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/pipeline.yaml"))


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"timeout_s": 120}, "heartbeat_s of 120 must be less than timeout_s of 120"),
        ({"heartbeat_s": 900, "timeout_s": 600, "start_limit_s": 60}, "lower heartbeat_s or raise"),
        ({"timeout_s": 600, "start_limit_s": 1800}, "start_limit_s of 1800 must be less than"),
        ({"start_limit_s": 86_400}, "start_limit_s of 86400 must be less than timeout_s of 86400"),
        ({"heartbeat_s": 119}, "heartbeat_s"),
        ({"start_limit_s": 29}, "start_limit_s"),
        ({"queue_limit_s": 59}, "queue_limit_s"),
        ({"timeout_s": 59}, "timeout_s"),
    ],
)
def test_limits_that_contradict_one_another_are_refused_by_name(
    limits: dict[str, int], words: str
) -> None:
    with pytest.raises(ValidationError, match=words):
        Patience(**limits)


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"timeout_s": 3600},
        {"timeout_s": 600, "start_limit_s": 599},
        {"timeout_s": 121, "heartbeat_s": 120, "start_limit_s": 30},
        {"timeout_s": 3600, "queue_limit_s": 2_592_000},
        {"start_limit_s": 604_800, "timeout_s": 2_592_000},
        {"heartbeat_s": 3600},
    ],
)
def test_limits_that_can_all_be_reached_are_taken(limits: dict[str, int]) -> None:
    assert Patience(**limits).model_dump() == Patience().model_dump() | limits


@pytest.mark.parametrize(
    ("timeout_s", "heartbeat_s", "start_limit_s"),
    [(1801, 240, 1800), (1800, 240, 900), (240, 120, 120), (130, 120, 65)],
)
def test_what_is_not_set_fits_a_short_timeout(
    timeout_s: int, heartbeat_s: int, start_limit_s: int
) -> None:
    made = Patience(timeout_s=timeout_s)
    assert (made.heartbeat_s, made.start_limit_s) == (heartbeat_s, start_limit_s)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_no_example_is_refused(path: Path) -> None:
    recipe: Any = yaml.safe_load(path.read_text())
    assert Pipeline.model_validate(recipe).patience


def test_a_job_that_reports_as_seldom_as_may_be_set_is_heard_in_time() -> None:
    assert 2 * PROGRESS_INTERVAL_MAX_S <= HEARTBEAT_MIN_S
