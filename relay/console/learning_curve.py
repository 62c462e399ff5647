"""The learning curve that a policy brings along: lessons, with how well it played in each. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from contracts.errors import ContractBroken


@dataclass
class LessonCurve:
    """One lesson of a round.

    Attributes:
        round: whose it is.
        number: which lesson of the round it is, from 1.
        algorithm: sft, dpo or ppo.
        done: units gone through: optimiser steps, or iterations of ppo.
        before: success in training's own look at the policy before it; None when nobody looked.
        after: the same after it.
        games: games of such a look; 0 when not known.
        path: (unit, success) of the games that were learnt from, the oldest first.
    """

    round: int
    number: int
    algorithm: str
    done: int = 0
    before: float | None = None
    after: float | None = None
    games: int = 0
    path: list[tuple[int, float]] = field(default_factory=list)

    @property
    def units(self) -> str:
        """What `done` counts."""
        return "iterations" if self.algorithm == "ppo" else "steps"


def read_curve(body: bytes) -> list[LessonCurve]:
    """Read `curve.jsonl` of a policy's folder.

    Where nobody looked right before a lesson, the look after the lesson before counts, if both
    are of one round and so of the same games.

    Raises:
        ContractBroken: it is no such file.
    """
    lessons: dict[tuple[int, int], LessonCurve] = {}
    try:
        for line in body.splitlines():
            point = json.loads(line)
            place = int(point["round"]), int(point["lesson"])
            fresh = LessonCurve(*place, str(point["algorithm"]))
            _take(lessons.setdefault(place, fresh), int(point["done"]), point["figures"])
    except (ValueError, KeyError, TypeError) as error:
        raise ContractBroken(f"the policy's learning curve cannot be read: {error!r}") from error
    told = [lessons[place] for place in sorted(lessons)]
    for earlier, lesson in pairwise(told):
        if lesson.before is None and lesson.round == earlier.round:
            lesson.before = earlier.after
    return told


def _take(lesson: LessonCurve, done: int, figures: Mapping[str, float]) -> None:
    lesson.done = max(lesson.done, done)
    if done == 0 and "success_before" in figures:
        lesson.before = float(figures["success_before"])
    if "success_after" in figures:
        lesson.after = float(figures["success_after"])
    lesson.games = int(figures.get("look_games", lesson.games))
    if "success" in figures:
        lesson.path.append((done, float(figures["success"])))
