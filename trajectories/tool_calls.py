"""Calls of tools in the forms people keep them, and declarations of tools."""

from __future__ import annotations

from typing import Any

from contracts.model import canonical_json
from trajectories.message import ToolCall
from trajectories.nesting import TooDeep, decode_text
from trajectories.refusal import kind, refuse
from trajectories.strict_json import NESTING_MAX
from trajectories.text import clean_text

_FORM = 'write {id, type: "function", function: {name, arguments}}'
_IDS = ("id", "toolUseId", "call_id")
_ARGUMENTS = ("arguments", "input", "parameters")


def read_calls(value: object, field: str) -> tuple[ToolCall, ...]:
    """Read a list of calls, or one; null and an empty list are no call.

    Raises:
        RecordRefused: one of them is not understood.
    """
    if value is None:
        return ()
    if isinstance(value, dict):
        return (read_call(value, field),)
    if not isinstance(value, list):
        refuse(field, f"is {kind(value)}, not a list of calls", _FORM)
    return tuple(read_call(one, f"{field}[{place}]") for place, one in enumerate(value))


def read_call_text(text: str, field: str) -> tuple[ToolCall, ...]:
    """Read the calls that a turn's text holds as JSON, one or a list of them.

    Raises:
        RecordRefused: it is no JSON, or no call.
    """
    words = ("is a call that is not JSON", "write {name, arguments} as JSON")
    return read_calls(_decoded(text, field, *words), field)


def read_call(value: object, field: str) -> ToolCall:
    """Read one call: OpenAI's form, or a bare name with arguments (or input, or parameters).

    Arguments may be JSON text, which is kept to the character whatever it holds, or a JSON value.

    Raises:
        RecordRefused: it has no name, or is no object.
    """
    if not isinstance(value, dict):
        refuse(field, f"is {kind(value)}, not a call", _FORM)
    given = value.get("function")
    inner, place = (given, f"{field}.function") if isinstance(given, dict) else (value, field)
    name = inner.get("name")
    if not isinstance(name, str) or not name.strip():
        refuse(f"{place}.name", f"is {kind(name) if name != '' else 'empty'}", "name the function")
    return ToolCall(
        id=call_id(_first(value, _IDS), f"{field}.id"),
        name=clean_text(name, f"{place}.name"),
        arguments=_arguments(_first(inner, _ARGUMENTS), f"{place}.arguments"),
    )


def call_id(value: object, field: str) -> str:
    """Read the id of a call; empty where there is none.

    Raises:
        RecordRefused: it is neither text nor a whole number.
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        refuse(field, f"is {kind(value)}, not an id", "give the id as text")
    return clean_text(str(value), field)


def read_tools(value: object, field: str) -> str:
    """Read declarations of tools, a list or JSON text, as canonical JSON text; empty for none.

    Raises:
        RecordRefused: they are neither.
    """
    if isinstance(value, str) and value.strip():
        words = ("is text that is not JSON", "write the list of functions as JSON")
        value = _decoded(value, field, *words)
    if not value or (isinstance(value, str) and not value.strip()):
        return ""
    if not isinstance(value, list | dict):
        refuse(field, f"is {kind(value)}, not a list of functions", "write a list of functions")
    return _json(value, field)


def _decoded(text: str, field: str, problem: str, remedy: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return decode_text(text)
    except TooDeep:
        refuse(field, f"is nested deeper than {NESTING_MAX}", "write it with fewer levels")
    except ValueError:
        refuse(field, problem, remedy)


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:  # noqa: ANN401 - any JSON
    return next((record[name] for name in names if record.get(name) is not None), None)


def _arguments(value: object, field: str) -> str:
    if isinstance(value, str):
        return clean_text(value, field)
    return "{}" if value is None else _json(value, field)


def _json(value: object, field: str) -> str:
    """Canonical JSON text; the one place where text within it is checked as a whole."""
    try:
        return clean_text(canonical_json(value).decode("utf-8"), field)
    except (UnicodeEncodeError, ValueError):
        refuse(field, "holds half of a surrogate pair", "write the whole character")
