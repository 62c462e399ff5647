"""A record that cannot be used, and the words that let a person mend it."""

from __future__ import annotations

from typing import NoReturn

SHOWN_MAX = 48
"""Characters of a foreign value that a sentence quotes."""

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "true or false"),
    (int, "a number"),
    (float, "a number"),
    (str, "text"),
    (list, "a list"),
    (dict, "an object"),
)


class RecordRefused(ValueError):
    """Raised by a reader; caught where records are counted, so it never leaves the package."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field
        self.problem = problem
        self.remedy = remedy


def refuse(field: str, problem: str, remedy: str) -> NoReturn:
    """Refuse the record being read.

    Raises:
        RecordRefused: always.
    """
    raise RecordRefused(field, problem, remedy)


def kind(value: object) -> str:
    """What a JSON value is, in words."""
    for of, words in _KINDS:
        if isinstance(value, of):
            return words
    return "null"


def shown(value: object) -> str:
    """A foreign value quoted for a sentence: escaped and cut."""
    text = repr(value[: SHOWN_MAX + 1] if isinstance(value, str) else value)
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 1] + "…"


def listed(names: list[str]) -> str:
    """Foreign names for a sentence, at most eight of them."""
    few = ", ".join(shown(name) for name in names[:8])
    return few + (f" and {len(names) - 8} more" if len(names) > 8 else "")  # noqa: PLR2004


def speakable(name: str) -> str:
    """A foreign name for a sentence: what could not be stored as UTF-8 is escaped."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
