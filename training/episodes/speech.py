"""Turns as a chat template takes them: the messages of the OpenAI form, guarded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from training.models.plain_text import PlainText, unguarded
from trajectories.message import Message
from trajectories.nesting import decode_text

_IMAGE = "<image>"


class Call(NamedTuple):
    """A tool call; its arguments are JSON text, as given."""

    id: str
    name: str
    arguments: str


class Turn(NamedTuple):
    """A message with its texts guarded; small, and quickly compared."""

    role: str
    content: str
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    name: str = ""
    learnt: bool = True

    @property
    def sampled(self) -> bool:
        """Whether the policy is to learn it."""
        return self.role == "assistant" and self.learnt


def turns_of(messages: Sequence[Message], text: PlainText) -> tuple[Turn, ...]:
    """Messages as turns; an image is the text `[image: reference]` in its place."""
    return tuple(_turn(message, text) for message in messages)


def spoken(turn: Turn, text: PlainText, *, parsed: bool) -> dict[str, Any]:
    """A turn as a template takes it; what is empty is left out, its content apart.

    Args:
        turn: the turn.
        text: guards what becomes text only when it is rendered.
        parsed: whether the template wants the arguments of calls as objects, not as text.
    """
    said: dict[str, Any] = {"role": turn.role, "content": turn.content}
    if turn.reasoning:
        said["reasoning_content"] = turn.reasoning
    if turn.calls:
        said["tool_calls"] = [_call(call, text, parsed=parsed) for call in turn.calls]
    if turn.call_id:
        said["tool_call_id"] = turn.call_id
    if turn.name:
        said["name"] = turn.name
    return said


def functions(tools: str) -> list[dict[str, Any]]:
    """The functions that may be called, each in the OpenAI form.

    Args:
        tools: JSON text of a list of them, or of one; empty if there are none.
    """
    value = _object(tools)
    found = value if isinstance(value, list) else [value]
    return [
        one if "function" in one or "name" not in one else {"type": "function", "function": one}
        for one in found
        if isinstance(one, dict)
    ]


def _turn(message: Message, text: PlainText) -> Turn:
    return Turn(
        message.role,
        text.guard(_with_images(message.content, message.images)),
        text.guard(message.reasoning),
        tuple(
            Call(text.guard(call.id), text.guard(call.name), text.guard(call.arguments))
            for call in message.tool_calls
        ),
        text.guard(message.tool_call_id),
        text.guard(message.name),
        message.learnt,
    )


def _call(call: Call, text: PlainText, *, parsed: bool) -> dict[str, Any]:
    arguments = _object(unguarded(call.arguments)) if parsed else None
    made = text.guard_all(arguments) if isinstance(arguments, dict) else call.arguments
    function = {"name": call.name, "arguments": made}
    return {"id": call.id, "type": "function", "function": function}


def _object(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """None as well for what nests so deep that a template might not come back from it."""
    try:
        return decode_text(text)
    except ValueError:
        return None


def _with_images(content: str, images: Sequence[str]) -> str:
    """Put references where the content has places for them, else before it."""
    if not images:
        return content
    places = content.split(_IMAGE)
    notes = [f"[image: {_short(image)}]" for image in images]
    if len(places) - 1 != len(notes):
        return "\n".join([*notes, content] if content else notes)
    return places[0] + "".join(note + after for note, after in zip(notes, places[1:], strict=True))


def _short(reference: str) -> str:
    """A picture within the reference itself is named by its digest: its letters teach nothing."""
    if not reference.startswith("data:"):
        return reference
    return f"sha256 {hashlib.sha256(reference.encode()).hexdigest()[:12]}"
