"""Which format a file's records are in, and by what evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contracts.counting import agreeing
from trajectories.formats import FORMATS
from trajectories.refusal import kind, listed, shown

SUPPORTED = (
    "give conversations {messages: [{role, content}, …]}, pairs {prompt, chosen, rejected}, or "
    "episodes {task_id, reward, traj: [{role, content}, …]}; docs/formats.md lists every form"
)
"""The remedy for records of no known form."""

_RELATIVES = (
    ("text", "are plain text, where nobody says which of it the policy should learn to say"),
    ("completions", "are steps with a label each (stepwise feedback)"),
    ("prompt", "have a prompt beside fields that are not known"),
    ("instruction", "are instructions in Alpaca's form"),
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
    of = "the only record"
    if len(sample) > 1:
        of = f"{counts[best]} of the first {len(sample)} records"
    return Detection(best, f"{of} {agreeing(counts[best], 'has', 'have')} {marks}")


def _what_else(sample: Sequence[object]) -> str:
    if not sample:
        return "no record could be read"
    first = sample[0]
    if wrapped := _wrapped(first):
        return wrapped
    if not isinstance(first, dict):
        return f"the first record is {kind(first)}, not an object"
    fields = f"the first record has the fields {listed(list(first))}" if first else "it is empty"
    words = next((words for key, words in _RELATIVES if key in first), "")
    return f"the records {words}; {fields}" if words else fields


def _wrapped(first: object) -> str:
    """Where a list of records lies within what should be one; empty if it does not."""
    inner = first.items() if isinstance(first, dict) else [("", first)]
    for name, value in inner:
        found = next((shape(one) for one in value[:1]), "") if isinstance(value, list) else ""
        if found:
            where = f"in its field {shown(name)}" if name else "in a list within it"
            return f"the first record holds records {where}, which look like {found}: give those"
    return ""
