"""Good and bad episodes as rows of tokens."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from training.episodes.encoding import Conversation, Row, encode, of_trajectory, row_of
from training.episodes.fitting import Loss, fit
from training.episodes.shelf import Shelf, shelf_of_encoded, shelf_of_rows
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

    rows: Shelf[Row]
    mismatched: Shelf[Row]
    good: Sequence[bool]
    tasks: Sequence[str]
    loss: Loss
    silent: int


def encode_labelled(
    labelled: Iterable[Labelled],
    tokenizer: Tokenizer,
    *,
    context: int,
    mismatch: bool = False,
    folder: Path | None = None,
) -> LabelledRows:
    """Render, tokenise and fit labelled episodes, some thousands of them in memory at a time.

    Args:
        labelled: what to encode.
        tokenizer: see `encode_pairs`.
        context: longest row in tokens, at least 2.
        mismatch: whether to make the mismatched rows.
        folder: an existing one for the rows; None for the system's own.

    Raises:
        JobFailed: the chat template changes earlier text when a message is added.
    """
    rows, wholes = shelf_of_rows(folder), shelf_of_encoded(folder)
    good: list[bool] = []
    tasks: list[str] = []
    loss, silent = Loss(), 0
    for one, encoded in encode(labelled, _conversation, tokenizer, context=context):
        if not encoded.answers[0]:
            silent += 1
            continue
        fitted = fit(encoded.prompt, encoded.answers, context=context)
        rows.add(row_of(fitted.prompt, fitted.answers[0]))
        loss += fitted.loss
        good.append(one.good)
        tasks.append(one.trajectory.task)
        if mismatch:
            wholes.add(encoded)
    others = shelf_of_rows(folder)
    if mismatch:
        for encoded, other in zip(wholes, partners(tasks), strict=True):
            fitted = fit(encoded.prompt, wholes[other].answers, context=context)
            others.add(row_of(fitted.prompt, fitted.answers[0]))
    return LabelledRows(rows, others, good, tasks, loss, silent)


def _conversation(one: Labelled) -> Conversation:
    return of_trajectory(one.trajectory)


def partners(tasks: Sequence[str]) -> list[int]:
    """For each place another one, of another task where there is any; none is taken often.

    Args:
        tasks: in an order that has nothing to do with them, such as that of digests.
    """
    count = len(tasks)
    half = max(1, count // 2)
    ends = _ends(tasks)
    return [_partner(tasks, ends, (place + half) % count, place) for place in range(count)]


def _partner(tasks: Sequence[str], ends: Sequence[int], other: int, place: int) -> int:
    if tasks[other] != tasks[place] or tasks[ends[other]] == tasks[place]:
        return other
    return ends[other]


def _ends(tasks: Sequence[str]) -> array[int]:
    """For each place the next one, round the end, of another task, where there is any."""
    count = len(tasks)
    ends = array("q", range(count))
    for place in range(2 * count - 2, -1, -1):
        here, after = place % count, (place + 1) % count
        ends[here] = ends[after] if tasks[after] == tasks[here] else after
    return ends
