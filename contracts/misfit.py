"""Fields that are sound one by one and do not go together."""

from __future__ import annotations


class Misfit(ValueError):
    """Raised by a contract's own checks, so that who reads a file can say where it is.

    Attributes:
        field: path from the checked model to the field to look at first, with dots.
    """

    def __init__(self, field: str, words: str) -> None:
        super().__init__(words)
        self.field = field
