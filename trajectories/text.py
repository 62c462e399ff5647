"""Text that can be stored and shown."""

from __future__ import annotations

from trajectories.refusal import refuse


def clean_text(text: str, field: str) -> str:
    """Give the text back as it is, if it can be stored as UTF-8 and shown.

    Raises:
        RecordRefused: it holds a NUL character or half of a surrogate pair.
    """
    if "\x00" in text:
        refuse(field, "holds a NUL character", "remove it: the text was probably binary")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            place = error.start + 1
            refuse(
                field,
                f"holds half of a surrogate pair at character {place}",
                "write the whole character: the text was probably cut within an emoji",
            )
    return text
