"""The texts that a new tokenizer is trained on: nothing held out, and no more than needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from training.episodes.artifact import (
    TRAIN,
    demonstrations_in,
    labelled_in,
    pairs_in,
    read_contents,
)
from training.models.tokenizer import texts_of, texts_of_episodes

SAMPLE_CHARACTERS = 64 * 1024**2
"""Of text; what more there is adds no token that matters, but memory and minutes."""


class Sample:
    """The first of some texts.

    Records are read in the order of their ids, which are digests: the first are a sample that
    depends on the records only, not on how they came.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self._cut = False

    def __iter__(self) -> Iterator[str]:
        """Go through the texts, once."""
        taken = 0
        for text in self._texts:
            if taken >= SAMPLE_CHARACTERS:
                self._cut = True
                return
            taken += len(text)
            yield text

    @property
    def notes(self) -> tuple[str, ...]:
        """What an operator should know, once all was gone through."""
        if not self._cut:
            return ()
        size = f"{SAMPLE_CHARACTERS // 1024**2} Mi characters"
        return (f"the tokenizer of the first policy was trained on {size}, a sample of all texts",)


def texts_to_train_on(episodes: Path) -> Iterator[str]:
    """Every text of an episodes folder that a first policy may know.

    Args:
        episodes: a verified folder.
    """
    contents = read_contents(episodes)
    if contents.demonstrations:
        return texts_of_episodes(demonstrations_in(episodes))
    labels = contents.train_good + contents.train_bad
    if contents.kind == "pairs" or not labels:
        return texts_of(pairs_in(episodes, TRAIN))
    return texts_of_episodes(one.trajectory for one in labelled_in(episodes, TRAIN))
