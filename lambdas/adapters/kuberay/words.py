"""What others wrote, as one printable line."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def plain(text: str) -> str:
    """Without colours and control characters, every run of white space one space."""
    shown = "".join(c if c.isprintable() else " " for c in _COLOUR.sub("", text))
    return " ".join(shown.split())


def end_of_log(text: str, length: int) -> str:
    """The last lines of a log as one line of at most so many characters."""
    kept = ""
    for line in reversed(text.splitlines()):
        words = plain(line)
        if not any(c.isalnum() for c in words):
            continue
        longer = f"{words} | {kept}" if kept else words
        if len(longer) > length:
            return kept or words[-length:]
        kept = longer
    return kept
