"""What a step that leaves its algorithm to the data learns by."""

from __future__ import annotations

from typing import NamedTuple

from contracts.counting import counted
from contracts.errors import DataUnusable
from contracts.steps import Auto, Dpo, Kto, Sft, Step
from training.episodes.artifact import Contents

_WEIGHT_MAX = 100.0


class Settled(NamedTuple):
    """A step that names its algorithm, and a sentence where the data chose it."""

    step: Step
    why: str = ""


def settle(step: Step, contents: Contents) -> Settled:
    """Choose for a step what it did not choose itself.

    Pairs are learnt from by dpo; good and bad episodes by kto, weighted so that both kinds count
    alike as the paper advises (section 4.2); good ones alone by sft.

    Args:
        step: of a recipe.
        contents: of the episodes that are learnt from.

    Raises:
        DataUnusable: there is nothing to imitate and nothing to compare.
    """
    if not isinstance(step, Auto):
        return Settled(step)
    if contents.kind == "pairs":
        made = _of(Dpo, step, algorithm="dpo", beta=step.beta)
        return Settled(made, f"auto learns by dpo: {contents.why}")
    good, bad = contents.train_good, contents.train_bad
    if not good:
        raise DataUnusable(
            f"there is nothing to imitate: of {counted(bad, 'episode')} to train on none is good; "
            "drop good ones, "
            "or lower data.good_reward"
        )
    if not bad:
        made = _of(Sft, step, algorithm="sft")
        return Settled(made, f"auto learns by sft, as no episode is bad: {contents.why}")
    most = max(good, bad)
    weights = {
        "desirable_weight": min(_WEIGHT_MAX, most / good),
        "undesirable_weight": min(_WEIGHT_MAX, most / bad),
    }
    made = _of(Kto, step, algorithm="kto", beta=step.beta, **weights)
    return Settled(made, f"auto learns by kto: {contents.why}")


def _of(kind: type[Dpo | Kto | Sft], step: Auto, **more: object) -> Step:
    shared = step.model_dump(exclude={"algorithm", "beta"})
    return kind.model_validate(shared | more)
