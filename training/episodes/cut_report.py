"""How much of what is learnt from the context cost, as figures and in words."""

from __future__ import annotations

from contracts.counting import agreeing, counted
from training.episodes.fitting import Loss


def cut_figures(loss: Loss, prefix: str = "") -> dict[str, float]:
    """Figures by name.

    Args:
        loss: what was lost.
        prefix: in front of each name.
    """
    figures = {
        "prompts_cut": loss.prompts,
        "answers_cut": loss.answers,
        "rows_cut": loss.cut,
        "cut_share": loss.share,
        "actions_cut": loss.actions,
        "actions_cut_share": loss.action_share,
    }
    return {prefix + name: float(value) for name, value in figures.items()}


def cut_words(loss: Loss, what: str, *, context: int) -> tuple[str, ...]:
    """A sentence on what was lost; none if nothing was.

    Args:
        loss: what was lost.
        what: what the rows are, such as `episodes`.
        context: in tokens.
    """
    if not loss.cut:
        return ()
    kept = "no token that the policy says itself is among them"
    if loss.actions:
        them = counted(loss.actions, "of them is", "of them are")
        kept = (
            f"{them} so long that what the policy says itself went or was cut as well: "
            f"{loss.action_share:.1%} of the tokens that it says"
        )
    return (
        f"{loss.cut} of {loss.rows} {what} {agreeing(loss.cut, 'is', 'are')} longer than "
        f"model.context of {context} tokens and lost {agreeing(loss.cut, 'its', 'their')} oldest "
        f"turns, {loss.share:.0%} of all tokens; {kept}",
    )
