"""Which lesson a step of the recipe is."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.errors import ContractBroken
from contracts.steps import Auto, Dpo, Kto, Ppo, Step
from training.lessons.dpo_lesson import DpoLesson
from training.lessons.kto_lesson import KtoLesson
from training.lessons.lesson import Beginning, Classroom, Lesson
from training.lessons.ppo_lesson import PpoLesson
from training.lessons.sft_lesson import SftLesson


def lesson_of(recipe: Step, room: Classroom, beginning: Beginning) -> Lesson:
    """The lesson of a recipe's step, its algorithm settled.

    Raises:
        ContractBroken: the step leaves its algorithm open.
    """
    if isinstance(recipe, Dpo):
        return DpoLesson(room, beginning, recipe)
    if isinstance(recipe, Ppo):
        return PpoLesson(room, beginning, recipe)
    if isinstance(recipe, Kto):
        return KtoLesson(room, beginning, recipe)
    if isinstance(recipe, Auto):
        raise ContractBroken("a step of the recipe has not been given its algorithm")
    return SftLesson(room, beginning, recipe)


def units(recipes: Sequence[Step]) -> int:
    """Units of some steps of a recipe: optimiser steps, or iterations."""
    return sum(one.iterations if isinstance(one, Ppo) else one.steps for one in recipes)
