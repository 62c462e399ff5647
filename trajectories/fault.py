"""What is wrong with a file as a whole, in words that follow its name."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """Why reading ended where it did, and what to do."""

    problem: str
    remedy: str
