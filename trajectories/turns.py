"""From the messages people write to ours: roles mapped, parts joined, the rest refused."""

from __future__ import annotations

from typing import Any

from trajectories.message import Message, Role
from trajectories.refusal import kind, refuse, shown

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "tool": "tool",
    "observation": "tool",
}
_CALL_KEYS = ("tool_calls", "function_call")
_TEXT_PARTS = {"text", "input_text", "output_text"}
_NO_CALLS = "leave the record out: tool calls are not carried into training"


def read_turns(value: object, field: str) -> tuple[Message, ...]:
    """Read a list of messages, `{role, content}` or `{from, value}`.

    Args:
        value: the decoded JSON.
        field: its path in the record, for the problem's address.

    Raises:
        RecordRefused: something in it is not understood.
    """
    if not isinstance(value, list):
        refuse(field, f"is {kind(value)}, not a list of messages", "write [{role, content}, …]")
    return tuple(read_turn(item, f"{field}[{place}]") for place, item in enumerate(value))


def read_answer(value: object, field: str) -> tuple[Message, ...]:
    """Read one side of a pair: text, one message, or a list of them.

    Raises:
        RecordRefused: something in it is not understood.
    """
    if isinstance(value, str):
        return (Message(role="assistant", content=clean_text(value, field)),)
    if isinstance(value, dict):
        return (read_turn(value, field),)
    return read_turns(value, field)


def read_turn(value: object, field: str) -> Message:
    """Read one message.

    Raises:
        RecordRefused: its role or its content is not understood, or it calls a tool.
    """
    if not isinstance(value, dict):
        refuse(field, f"is {kind(value)}, not a message", "write {role, content}")
    for key in _CALL_KEYS:
        if value.get(key):
            refuse(f"{field}.{key}", "calls a tool", _NO_CALLS)
    return Message(role=_role(value, field), content=_text(value, field))


def _role(message: dict[str, Any], field: str) -> Role:
    key = "from" if "from" in message and "role" not in message else "role"
    if key not in message:
        refuse(f"{field}.role", "is missing", "say who speaks: system, user or assistant")
    name = message[key]
    if name == "function_call":
        refuse(f"{field}.{key}", "calls a tool", _NO_CALLS)
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        refuse(
            f"{field}.{key}",
            f"is {shown(name)}, a role that is not known",
            f"use one of {', '.join(_ROLES)}",
        )
    return role


def _text(message: dict[str, Any], field: str) -> str:
    key = "value" if "value" in message and "content" not in message else "content"
    place = f"{field}.{key}"
    if key not in message:
        refuse(place, "is missing", "write what was said as text")
    content = message[key]
    if isinstance(content, str):
        return clean_text(content, place)
    if isinstance(content, list):
        return "".join(_part(part, f"{place}[{number}]") for number, part in enumerate(content))
    return refuse(place, f"is {kind(content)}, not text", "write what was said as text")


def _part(part: object, field: str) -> str:
    if isinstance(part, str):
        return clean_text(part, field)
    if not isinstance(part, dict) or part.get("type") not in _TEXT_PARTS:
        what = shown(part.get("type")) if isinstance(part, dict) else kind(part)
        refuse(field, f"is a part of type {what}", "keep only parts of type 'text'")
    text = part.get("text", part.get("value"))
    if not isinstance(text, str):
        refuse(field, f"holds {kind(text)} where its text belongs", "write {type: 'text', text}")
    return clean_text(text, field)


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
