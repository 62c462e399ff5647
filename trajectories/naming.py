"""Names that people give to tasks and trials: text or whole numbers."""

from __future__ import annotations

from trajectories.refusal import kind, refuse, shown
from trajectories.text import clean_text


def name_of(value: object, field: str) -> str:
    """A name as text; empty where there is none. Tables turn whole numbers into floats.

    Raises:
        RecordRefused: it is neither text nor a whole number, or empty.
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        refuse(field, f"is {kind(value)} such as {shown(value)}", "name it by text or whole number")
    text = clean_text(str(value), field)
    if not text.strip():
        refuse(field, "is empty", "name it by text or whole number")
    return text
