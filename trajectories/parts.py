"""Contents as lists of typed parts: text, reasoning, calls, results, and images by reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from trajectories.leftovers import Extras, keep
from trajectories.message import ToolCall
from trajectories.refusal import kind, refuse, shown
from trajectories.text import clean_text
from trajectories.tool_calls import call_id, read_call, read_call_text

Part = dict[str, Any]


class Result(NamedTuple):
    """What a tool answered, where a user's turn carries it."""

    call: str
    text: str


@dataclass
class Said:
    """What the parts of one turn add up to."""

    extras: Extras
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


def read_parts(parts: list[object], where: str, said: Said) -> None:
    """Read a list of parts into what was said; texts are joined as they stand.

    Args:
        parts: texts, typed parts as OpenAI, Anthropic or LLaMA-Factory write them, or Nova's
            parts of one key.
        where: their address in the record.
        said: takes them.

    Raises:
        RecordRefused: one of them is not understood.
    """
    for number, part in enumerate(parts):
        _read_part(part, f"{where}[{number}]", said)


def reference_of(value: object, where: str) -> str:
    """The reference by which an image is known: an address, a path, a data URI, a file's id.

    Empty where it is left to the record's own list of images. Nothing is fetched or opened.

    Raises:
        RecordRefused: it is no reference in any form that is known.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return clean_text(value, where)
    if isinstance(value, dict):
        for key in _REFERENCES:
            if value.get(key) is not None:
                return reference_of(value[key], f"{where}.{key}")
        if not value.keys() - {"type", "text", "detail", "format"}:
            return ""
    return refuse(where, f"is {kind(value)}, no reference to an image", "give its address or path")


_REFERENCES = (
    *("image_url", "url", "path", "image", "s3Location", "uri", "source"),
    *("file_id", "data", "bytes", "value"),
)


def _read_part(part: object, where: str, said: Said) -> None:
    if isinstance(part, str):
        said.text.append(clean_text(part, where))
        return
    if not isinstance(part, dict):
        refuse(where, f"is a part of type {kind(part)}", "write {type: 'text', text}")
    name = part["type"] if "type" in part else next(iter(part.keys() & _BARE), None)
    reader = _READERS.get(name) if isinstance(name, str) else None
    if reader is None:
        refuse(where, f"is a part of type {shown(name)}", f"use one of {', '.join(_NAMES)}")
    reader(part, where, said)
    keep(said.extras, where, part, _KNOWN)


def _text(part: Part, where: str, said: Said) -> None:
    said.text.append(_text_of(part, where, ("text", "value", "refusal")))


def _reasoning(part: Part, where: str, said: Said) -> None:
    names = ("text", "value", "thinking", "reasoning")
    said.reasoning.append(_text_of(part, where, names))


def _nova_reasoning(part: Part, where: str, said: Said) -> None:
    given = part["reasoningContent"]
    inner = given.get("reasoningText") if isinstance(given, dict) else None
    if not isinstance(inner, dict):
        refuse(f"{where}.reasoningContent", "has no reasoningText", "write {reasoningText: {text}}")
    place = f"{where}.reasoningContent.reasoningText"
    said.reasoning.append(_text_of(inner, place, ("text",)))
    keep(said.extras, place, inner, {"text"})


def _call(part: Part, where: str, said: Said) -> None:
    given = part.get("value", part.get("tool_call", part))
    if isinstance(given, str):
        said.calls += read_call_text(given, f"{where}.value")
    else:
        said.calls.append(read_call(given, where))


def _nova_call(part: Part, where: str, said: Said) -> None:
    said.calls.append(read_call(part["toolUse"], f"{where}.toolUse"))


def _result(part: Part, where: str, said: Said) -> None:
    name = "tool_use_id" if "tool_use_id" in part else "tool_call_id"
    said.results.append(
        Result(
            call_id(part.get(name), f"{where}.{name}"),
            _result_text(part.get("content"), f"{where}.content", said),
        )
    )


def _nova_result(part: Part, where: str, said: Said) -> None:
    given, place = part["toolResult"], f"{where}.toolResult"
    if not isinstance(given, dict):
        refuse(place, f"is {kind(given)}, not a result", "write {toolUseId, content}")
    text = _result_text(given.get("content"), f"{place}.content", said)
    said.results.append(Result(call_id(given.get("toolUseId"), f"{place}.toolUseId"), text))
    keep(said.extras, place, given, {"toolUseId", "content"})


def _result_text(value: object, where: str, said: Said) -> str:
    if value is None or isinstance(value, str):
        return clean_text(value or "", where)
    if not isinstance(value, list):
        refuse(where, f"is {kind(value)}, not text", "write what the tool answered as text")
    inner = Said(said.extras)
    read_parts(value, where, inner)
    said.images += inner.images
    return "".join(inner.text)


def _json_part(part: Part, where: str, said: Said) -> None:
    said.text.append(clean_text(json.dumps(part["json"], ensure_ascii=False), f"{where}.json"))


def _image(part: Part, where: str, said: Said) -> None:
    said.images.append(reference_of({k: v for k, v in part.items() if k in _IMAGE_KEYS}, where))


def _moving(_part: Part, where: str, _said: Said) -> None:
    refuse(where, "is a video, a sound or a document", "keep to text and images")


def _text_of(part: Part, where: str, names: tuple[str, ...]) -> str:
    text = next((part[name] for name in names if part.get(name) is not None), None)
    if not isinstance(text, str):
        refuse(where, f"holds {kind(text)} where its text belongs", "write {type: 'text', text}")
    return clean_text(text, where)


_BARE = {
    *("text", "image", "video", "document", "reasoningContent"),
    *("toolUse", "toolResult", "json"),
}
"""Nova's parts are named by their one key."""
_IMAGE_KEYS = {
    *("image", "image_url", "url", "path", "source", "file_id", "value", "data", "bytes"),
    *("detail", "format"),
}
_READERS: dict[str, Callable[[Part, str, Said], None]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "refusal": _text,
    "reasoning": _reasoning,
    "thinking": _reasoning,
    "reasoningContent": _nova_reasoning,
    "tool_call": _call,
    "tool_use": _call,
    "function_call": _call,
    "toolUse": _nova_call,
    "tool_result": _result,
    "toolResult": _nova_result,
    "json": _json_part,
    "image": _image,
    "image_url": _image,
    "input_image": _image,
    "video": _moving,
    "video_url": _moving,
    "audio": _moving,
    "input_audio": _moving,
    "document": _moving,
}
_NAMES = ("text", "reasoning", "tool_call", "tool_result", "image_url")
_KNOWN = {
    *("type", "text", "value", "refusal", "reasoning", "thinking", "reasoningContent"),
    *("tool_call", "id", "name", "arguments", "input", "function", "toolUse", "tool_use_id"),
    *("tool_call_id", "content", "toolResult", "json", "call_id", "parameters"),
    *_IMAGE_KEYS,
}
