"""Good and bad episodes as rows of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from training.episodes.encoding import Row, conversations_of, encode, row_of
from training.episodes.fitting import Loss, fit
from training.models.protocols import Tokenizer
from trajectories.labelling import Labelled


class LabelledRows(NamedTuple):
    """P episodes that hold something to learn, in the order given.

    Attributes:
        rows: each episode.
        mismatched: each episode's opening with what was said in another one.
        good: whether each is good.
        tasks: what each is of.
        loss: what they lost to the context, the mismatched apart.
        silent: how many were left out, as nothing in them is to be learnt.
    """

    rows: tuple[Row, ...]
    mismatched: tuple[Row, ...]
    good: tuple[bool, ...]
    tasks: tuple[str, ...]
    loss: Loss
    silent: int


def encode_labelled(
    labelled: Sequence[Labelled], tokenizer: Tokenizer, *, context: int, mismatch: bool = False
) -> LabelledRows:
    """Render, tokenise and fit labelled episodes.

    Args:
        labelled: what to encode.
        tokenizer: see `encode_pairs`.
        context: longest row in tokens, at least 2.
        mismatch: whether to make the mismatched rows.

    Raises:
        JobFailed: the chat template changes earlier text when a message is added.
    """
    conversations = conversations_of([one.trajectory for one in labelled])
    found = list(zip(labelled, encode(conversations, tokenizer, context=context), strict=True))
    said = [(one, encoded) for one, encoded in found if encoded.answers[0]]
    rows = []
    loss = Loss()
    for _, encoded in said:
        fitted = fit(encoded.prompt, encoded.answers, context=context)
        rows.append(row_of(fitted.prompt, fitted.answers[0]))
        loss += fitted.loss
    tasks = tuple(one.trajectory.task for one, _ in said)
    others: list[Row] = []
    if mismatch:
        for (_, encoded), other in zip(said, partners(tasks), strict=True):
            fitted = fit(encoded.prompt, said[other][1].answers, context=context)
            others.append(row_of(fitted.prompt, fitted.answers[0]))
    good = tuple(one.good for one, _ in said)
    return LabelledRows(tuple(rows), tuple(others), good, tasks, loss, len(found) - len(said))


def partners(tasks: Sequence[str]) -> list[int]:
    """For each place another one, of another task where there is any; none is taken often.

    Args:
        tasks: in an order that has nothing to do with them, such as that of digests.
    """
    count = len(tasks)
    half = max(1, count // 2)
    return [_partner(tasks, place, half) for place in range(count)]


def _partner(tasks: Sequence[str], place: int, half: int) -> int:
    count = len(tasks)
    places = ((place + half + step) % count for step in range(count))
    others = (other for other in places if tasks[other] != tasks[place])
    return next(others, (place + half) % count)
