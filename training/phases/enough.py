"""Whether what was dropped is enough for what a pipeline asks: counted, and refused in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.counting import agreeing, counted
from contracts.errors import DataUnusable
from contracts.pipeline import Pipeline
from training.episodes.artifact import Contents
from training.lessons.settling import settle
from training.phases.measuring import metric_of

if TYPE_CHECKING:
    from training.episodes.sorting_out import SortingOut


def counts(contents: Contents, mean_reward: float | None = None) -> dict[str, float]:
    """How much there is of what is learnt from: labels, or pairs and demonstrations.

    Args:
        contents: of an episodes artifact.
        mean_reward: of the demonstrations that have one, if any has.
    """
    if contents.kind == "labels":
        names = ("train_good", "train_bad", "held_out_good", "held_out_bad")
        return {name: float(getattr(contents, name)) for name in names}
    figures = {
        "train_pairs": float(contents.train_pairs),
        "held_out_pairs": float(contents.held_out_pairs),
        "distinct_pairs": float(contents.train_pairs + contents.held_out_pairs),
    }
    if contents.demonstrations:
        figures["demonstrations"] = float(contents.demonstrations)
    if mean_reward is not None:
        figures["demonstrations_mean_reward"] = mean_reward
    return figures


def why_nothing(found: SortingOut) -> str:
    """Why nothing can be learnt from what was dropped, in a sentence."""
    count = found.pairs + found.episodes
    if not count:
        return "no dropped record is usable"
    if not found.pairs and not found.answered:
        return (
            f"{counted(count, 'usable record is a prompt', 'usable records are prompts')} "
            "without an answer, and there is nothing to "
            "learn from a prompt alone; drop answers with a reward or a label"
        )
    if found.learnable:
        return (
            "no two episodes of one task differ enough in their rewards to prefer one; drop more "
            "trials of a task, or let a round learn by kto, sft or auto, which take single episodes"
        )
    return (
        f"in all of {counted(count, 'usable record')} the assistant's turns are marked not to be "
        "learnt from, or answer to images, which a policy of text cannot see "
        f"({found.contents.why})"
    )


def require_enough(contents: Contents, pipeline: Pipeline) -> None:
    """Make sure that every step of every round finds what it learns from, and the gate a measure.

    Raises:
        DataUnusable: one does not.
    """
    if pipeline.environment is not None:
        _require_for_playing(contents, pipeline)
        return
    pairs = contents.train_pairs, contents.held_out_pairs
    if "dpo" in pipeline.algorithms and not all(pairs):
        _refuse_few_pairs(contents, pipeline)
    steps = {
        settle(step, contents).step.algorithm for one in pipeline.rounds for step in one.optimize
    }
    if "dpo" in steps and not contents.train_pairs:
        _refuse_few_pairs(contents, pipeline)
    good, bad = contents.train_good, contents.train_bad
    if "kto" in steps and not (good and bad):
        raise DataUnusable(
            f"a round learns by kto, which needs good and bad episodes, but of those to train on "
            f"{good} {agreeing(good, 'is', 'are')} good and {bad} bad; drop both kinds, "
            f"or change data.good_reward ({pipeline.data.good_reward:g})"
        )
    if "sft" in steps and not good:
        raise DataUnusable(
            f"a round learns by sft, but none of {counted(bad, 'episode')} to train on is good; "
            f"drop good ones, or lower data.good_reward ({pipeline.data.good_reward:g})"
        )
    metric_of(pipeline.gate, contents)


def _require_for_playing(contents: Contents, pipeline: Pipeline) -> None:
    steps = pipeline.algorithms
    pairs = contents.train_pairs, contents.held_out_pairs
    if "sft" in steps and not contents.demonstrations:
        raise DataUnusable(
            "a round learns by sft, but no dropped episode is usable; drop episodes with their "
            "reward, {task_id, reward, traj: [{role, content}, …]}"
        )
    if "dpo" in steps and not all(pairs):
        raise DataUnusable(
            f"a round learns by dpo, but "
            f"{counted(contents.demonstrations, 'episode makes', 'episodes make')} only "
            f"{counted(sum(pairs), 'pair')}; drop several episodes a task whose rewards differ "
            f"by {pipeline.data.min_reward_gap:g}, or lower data.min_reward_gap"
        )


def _refuse_few_pairs(contents: Contents, pipeline: Pipeline) -> None:
    share = pipeline.data.held_out_share
    pairs = contents.train_pairs + contents.held_out_pairs
    lacking = "train on" if not contents.train_pairs else "judge by"
    needed = round(3 / min(share, 1 - share))
    labels = contents.train_good + contents.train_bad
    other = (
        ", or let a round learn by kto, sft or auto, which take single episodes" if labels else ""
    )
    raise DataUnusable(
        f"{counted(pairs, 'usable pair leaves', 'usable pairs leave')} none to {lacking} "
        f"when a share of {share:g} of the tasks is held out, each as a whole; drop at least "
        f"{needed} pairs of different tasks{other}"
    )
