"""Which lesson a step of the recipe is, and the policies that lessons begin from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from contracts.errors import ArtifactCorrupt
from contracts.pipeline import Dpo, Ppo, Step
from training.checkpoints.folders import commit_folder
from training.checkpoints.manifests import hold_to_manifest, read_manifest
from training.checkpoints.series import Series
from training.lessons.dpo_lesson import DpoLesson
from training.lessons.lesson import Beginning, Classroom, Lesson
from training.lessons.ppo_lesson import PpoLesson
from training.lessons.sft_lesson import SftLesson


def begin(recipe: Step, room: Classroom, beginning: Beginning) -> Lesson:
    """The lesson of a recipe's step."""
    if isinstance(recipe, Dpo):
        return DpoLesson(room, beginning, recipe)
    if isinstance(recipe, Ppo):
        return PpoLesson(room, beginning, recipe)
    return SftLesson(room, beginning, recipe)


def keep_beginning(
    series: Series, number: int, fill: Callable[[Path], None], *, step: int
) -> Beginning:
    """Keep the policy that a later lesson begins from, as long as its series is kept.

    A reference policy has to be found again after an end, when checkpoints have moved on.

    Args:
        series: the checkpoints.
        number: of the lesson, counted from 0.
        fill: writes the policy into the folder it is given.
        step: units that were gone through before.
    """
    folder = _place(series, number)
    shutil.rmtree(folder, ignore_errors=True)
    ref = commit_folder(folder, fill, kind="checkpoint", run=series.run, step=step)
    return Beginning(folder, ref.manifest)


def kept_beginning(series: Series, number: int, manifest: str) -> Beginning | None:
    """What `keep_beginning` kept; None for the first lesson, which began from the start."""
    return Beginning(_place(series, number), manifest) if number else None


def beginning_damaged(series: Series, number: int, manifest: str) -> str | None:
    """Why a lesson cannot go on for lack of the policy that it began from, if so."""
    if not number:
        return None
    folder = _place(series, number)
    try:
        hold_to_manifest(folder, read_manifest(folder, expected=manifest))
    except (ArtifactCorrupt, OSError) as error:
        return f"the policy that its step of the recipe began from is lost: {error}"
    return None


def _place(series: Series, number: int) -> Path:
    return series.root / f"beginning-{number + 1:02d}"
