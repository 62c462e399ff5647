"""Images listed beside a conversation, brought to the turns that show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contracts.counting import counted
from trajectories.message import Message
from trajectories.parts import reference_of
from trajectories.refusal import kind, refuse

FIELDS = frozenset({"images", "image"})
PLACEHOLDER = "<image>"
_MOVING = ("videos", "video", "audios", "audio")
_MEDIA = FIELDS.union(_MOVING)


def place_images(turns: Sequence[Message], record: dict[str, Any]) -> tuple[Message, ...]:
    """Bring the images of a record to its turns, in order.

    A turn shows one for each `<image>` in its text and for each part of type image without a
    reference of its own. Without a list in the record, `<image>` is text like any other.

    Args:
        turns: of the whole conversation.
        record: which may list `images`.

    Raises:
        RecordRefused: as many images as places for them are not there, or there are other media.
    """
    if _MEDIA.isdisjoint(record):
        _check_given(turns)
        return tuple(turns)
    for name in _MOVING:
        if record.get(name):
            refuse(name, "is not empty", "keep to text and images")
    field, given = _listed(record)
    if given is None:
        _check_given(turns)
        return tuple(turns)
    wanted = [turn.images.count("") + turn.content.count(PLACEHOLDER) for turn in turns]
    if sum(wanted) != len(given):
        refuse(
            field,
            f"lists {counted(len(given), 'image')}, and the turns have places for {sum(wanted)}",
            f"write one {PLACEHOLDER} for each image, in its turn",
        )
    remaining = iter(given)
    return tuple(
        _shown(turn, [next(remaining) for _ in range(count)])
        for turn, count in zip(turns, wanted, strict=True)
    )


def _listed(record: dict[str, Any]) -> tuple[str, list[str] | None]:
    """The field, and its references; none where null stands for a list."""
    field = next((name for name in ("images", "image") if record.get(name) is not None), "images")
    value = record.get(field)
    if value is None:
        return field, None
    values = value if isinstance(value, list) else [value]
    found = [reference_of(one, f"{field}[{place}]") for place, one in enumerate(values)]
    for place, one in enumerate(found):
        if not one:
            words = f"is {kind(values[place])} without a reference"
            refuse(f"{field}[{place}]", words, "give the image's address or path")
    return field, found


def _shown(turn: Message, images: list[str]) -> Message:
    if not images:
        return turn
    own = [image for image in turn.images if image]
    return turn.model_copy(update={"images": tuple(own + images)})


def _check_given(turns: Sequence[Message]) -> None:
    for place, turn in enumerate(turns):
        if "" in turn.images:
            refuse(
                f"turn {place + 1}",
                "shows an image that is not given",
                "give its address, or list the record's images",
            )
