"""Which format a file's records are in, and by what evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trajectories.formats import FORMATS
from trajectories.refusal import kind, listed

SUPPORTED = (
    "give pairs as OpenAI (input, preferred_output, non_preferred_output), "
    "ShareGPT (conversations, chosen, rejected) or TRL (prompt, chosen, rejected) writes them, "
    "or episodes as {task_id, reward, traj: [{role, content}, …]}"
)
"""The remedy for records of no known form."""

_RELATIVES = (
    ("label", "have a label for each answer, not two answers to compare (unpaired feedback)"),
    ("chosen_messages", "keep whole conversations in chosen_messages and rejected_messages"),
    ("messages", "are single conversations, without a reward and not pairs of answers"),
    ("conversations", "are single conversations, not pairs of answers"),
)


class Detection(NamedTuple):
    """The format's name, empty when none fits, and the evidence for it in words."""

    format: str
    evidence: str


def shape(record: object) -> str:
    """Name of the format that one record looks like, or an empty string."""
    if not isinstance(record, dict):
        return ""
    return next((form.name for form in FORMATS.values() if form.fits(record)), "")


def detect(sample: Sequence[object]) -> Detection:
    """Detect by the form that most of the sample's records have.

    Args:
        sample: decoded JSON values, the first of the file.
    """
    shapes = [shape(record) for record in sample]
    counts = {name: shapes.count(name) for name in FORMATS}
    best = max(counts, key=counts.__getitem__)
    if not counts[best]:
        return Detection("", _what_else(sample))
    marks = FORMATS[best].marks
    return Detection(best, f"{counts[best]} of the first {len(sample)} records have {marks}")


def _what_else(sample: Sequence[object]) -> str:
    if not sample:
        return "no record could be read"
    first = sample[0]
    if not isinstance(first, dict):
        return f"the first record is {kind(first)}, not an object"
    for key, words in _RELATIVES:
        if key in first:
            return f"the records {words}"
    return f"the first record has the fields {listed(list(first))}" if first else "it is empty"
