"""From the messages people write to ours: roles mapped, parts joined, the rest kept or refused."""

from __future__ import annotations

from typing import Any

from trajectories.leftovers import Extras, keep
from trajectories.message import Message, Role
from trajectories.numbers import read_number
from trajectories.parts import Said, read_parts, reference_of
from trajectories.refusal import kind, refuse, shown
from trajectories.text import clean_text
from trajectories.tool_calls import call_id, read_call_text, read_calls

_CALLING: dict[str, Role] = {"function_call": "assistant", "tool_call": "assistant"}
"""Roles of turns whose text is a call."""
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "chatgpt": "assistant",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "function_response": "tool",
    "tool_response": "tool",
}
_SIMPLE = {"role", "content", "tool_calls", "tool_call_id", "name"}
_KNOWN = {
    *("role", "from", "content", "value", "tool_calls", "function_call", "tool_call_id", "name"),
    *("weight", "loss_weight", "reasoning_content", "reasoning", "thinking", "reward"),
    *("images", "refusal", "learnt"),
}
_SAY_IT = "write what was said as text"


def read_turns(value: object, field: str, extras: Extras | None = None) -> tuple[Message, ...]:
    """Read a list of messages, `{role, content}` or `{from, value}`.

    Args:
        value: the decoded JSON.
        field: its path in the record, for the problem's address.
        extras: takes the fields of turns and parts that are not known.

    Raises:
        RecordRefused: something in it is not understood.
    """
    if value is None:
        refuse(field, "is missing", "write [{role, content}, …]")
    if not isinstance(value, list):
        refuse(field, f"is {kind(value)}, not a list of messages", "write [{role, content}, …]")
    made: list[Message] = []
    for place, one in enumerate(value):
        quick = _quickly(one)
        made += (quick,) if quick else _read_turn(one, f"{field}[{place}]", extras)
    return tuple(made)


def read_answer(value: object, field: str, extras: Extras | None = None) -> tuple[Message, ...]:
    """Read one side of a pair: text, one message, or a list of them.

    Raises:
        RecordRefused: something in it is not understood.
    """
    if isinstance(value, str):
        return (Message(role="assistant", content=clean_text(value, field)),)
    if isinstance(value, dict):
        return _read_turn(value, field, extras)
    return read_turns(value, field, extras)


def _quickly(value: object) -> Message | None:
    """A turn of two known texts, as nearly all are."""
    if type(value) is not dict or len(value) != 2:  # noqa: PLR2004
        return None
    if "from" in value:
        name, content = value["from"], value.get("value")
    else:
        name, content = value.get("role"), value.get("content")
    role = _ROLES.get(name) if type(name) is str else None
    if role is None or type(content) is not str or "\x00" in content:
        return None
    if not content.isascii():
        try:
            content.encode()
        except UnicodeEncodeError:
            return None
    return Message.said(role, content)


def _read_turn(value: object, field: str, extras: Extras | None) -> tuple[Message, ...]:
    """Read one message: a user's turn that carries tools' results becomes several."""
    if not isinstance(value, dict):
        refuse(field, f"is {kind(value)}, not a message", "write {role, content}")
    said = Said({} if extras is None else extras)
    role = _role(value, field)
    _read_calls(value, field, said)
    _read_content(value, field, said)
    reward, learnt = None, True
    if not _SIMPLE.issuperset(value):
        _read_besides(value, field, said)
        reward = read_number(value.get("reward"), f"{field}.reward")
        learnt = _is_learnt(value, field, said.extras) or role != "assistant"
        keep(said.extras, field, value, _KNOWN)
    last = Message(
        role=role,
        content="".join(said.text),
        reasoning="\n".join(said.reasoning),
        tool_calls=tuple(said.calls),
        tool_call_id=call_id(value.get("tool_call_id"), f"{field}.tool_call_id"),
        name=_name(value.get("name"), f"{field}.name"),
        images=tuple(said.images),
        reward=reward,
        learnt=learnt,
    )
    if not said.results:
        return (last,)
    results = tuple(
        Message(role="tool", content=one.text, tool_call_id=one.call) for one in said.results
    )
    return results if last.is_empty else (*results, last)


def _role_key(message: dict[str, Any]) -> str:
    return "from" if "from" in message and "role" not in message else "role"


def _role(message: dict[str, Any], field: str) -> Role:
    key = _role_key(message)
    if key not in message:
        refuse(f"{field}.role", "is missing", "say who speaks: system, user or assistant")
    name = message[key]
    role = (_ROLES.get(name) or _CALLING.get(name)) if isinstance(name, str) else None
    if role is None:
        refuse(
            f"{field}.{key}",
            f"is {shown(name)}, a role that is not known",
            f"use one of {', '.join((*_ROLES, *_CALLING))}",
        )
    return role


def _read_calls(message: dict[str, Any], field: str, said: Said) -> None:
    said.calls += read_calls(message.get("tool_calls"), f"{field}.tool_calls")
    said.calls += read_calls(message.get("function_call"), f"{field}.function_call")


def _read_content(message: dict[str, Any], field: str, said: Said) -> None:
    key = "value" if "value" in message and "content" not in message else "content"
    place, content = f"{field}.{key}", message.get(key)
    if isinstance(content, str):
        if message[_role_key(message)] in _CALLING:
            said.calls += read_call_text(content, place)
        else:
            said.text.append(clean_text(content, place))
    elif isinstance(content, list):
        read_parts(content, place, said)
    elif content is not None:
        refuse(place, f"is {kind(content)}, not text", _SAY_IT)
    elif not said.calls and message.get("refusal") is None:
        refuse(place, "is null, not text" if key in message else "is missing", _SAY_IT)


def _read_besides(message: dict[str, Any], field: str, said: Said) -> None:
    if isinstance(message.get("refusal"), str):
        said.text.append(clean_text(message["refusal"], f"{field}.refusal"))
    for key in ("reasoning_content", "reasoning", "thinking"):
        thought = message.get(key)
        if isinstance(thought, str):
            said.reasoning.append(clean_text(thought, f"{field}.{key}"))
            break
        if thought is not None:
            refuse(f"{field}.{key}", f"is {kind(thought)}, not text", "write it as text")
    images = message.get("images")
    if isinstance(images, list):
        said.images += [reference_of(one, f"{field}.images") for one in images]
    elif images is not None:
        refuse(f"{field}.images", f"is {kind(images)}, not a list", "list references to images")


def _name(value: object, field: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        refuse(field, f"is {kind(value)}, not text", "give the name as text")
    return clean_text(value, field)


def _is_learnt(message: dict[str, Any], field: str, extras: Extras) -> bool:
    """Weights other than 0 and 1 are taken as 1, and kept beside."""
    for key in ("weight", "loss_weight"):
        weight = read_number(message.get(key), f"{field}.{key}")
        if weight is not None:
            if weight not in {0, 1}:
                extras.setdefault(field, {})[key] = weight
            return weight != 0
    return message.get("learnt") is not False
