"""Whether what was dropped is enough for what a pipeline asks: counted, and refused in words."""

from __future__ import annotations

from contracts.errors import DataUnusable
from contracts.pipeline import Pipeline
from trajectories.learnable import Learnable


def counts(made: Learnable) -> dict[str, float]:
    """How much there is to learn from."""
    figures = {
        "train_pairs": float(len(made.training)),
        "held_out_pairs": float(len(made.held_out)),
        "distinct_pairs": float(len(made.training) + len(made.held_out)),
    }
    if made.demonstrations:
        rewards = [one.reward for one in made.demonstrations]
        figures["demonstrations"] = float(len(rewards))
        figures["demonstrations_mean_reward"] = sum(rewards) / len(rewards)
    return figures


def require_enough(made: Learnable, pipeline: Pipeline) -> None:
    """Make sure that every step of every round finds what it learns from.

    Raises:
        DataUnusable: one does not.
    """
    steps = {step.algorithm for round_ in pipeline.rounds for step in round_.optimize}
    if "sft" in steps and not made.demonstrations:
        raise DataUnusable(
            "a round learns by sft, but no dropped episode is usable; drop episodes with their "
            "reward, {task_id, reward, traj: [{role, content}, …]}"
        )
    if "dpo" not in steps or (made.training and made.held_out):
        return
    if pipeline.environment is None:
        _refuse_few_pairs(made, pipeline.data.held_out_share)
    raise DataUnusable(
        f"a round learns by dpo, but {len(made.demonstrations)} episodes make only "
        f"{len(made.training) + len(made.held_out)} pairs; drop several episodes a task whose "
        f"rewards differ by {pipeline.data.min_reward_gap:g}, or lower data.min_reward_gap"
    )


def _refuse_few_pairs(made: Learnable, share: float) -> None:
    lacking = "train on" if not made.training else "judge by"
    needed = round(3 / min(share, 1 - share))
    raise DataUnusable(
        f"{len(made.training) + len(made.held_out)} usable pairs leave none to {lacking} when a "
        f"share of {share:g} of the prompts is held out; drop at least {needed} pairs of "
        "different prompts"
    )
