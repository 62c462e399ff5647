"""Amazon Nova's conversations: for supervised learning, with two candidates, and as prompts.

`{"schemaVersion": "bedrock-conversation-2024", "system": [{text}], "messages": [{role, content:
[{text} | {image} | {reasoningContent} | {toolUse} | {toolResult}, …]}, …]}`; for preferences the
last turn has `candidates: [{content, preferenceLabel}, …]`; for reinforcement `messages` in
OpenAI's form stand beside a `reference_answer`, or the prompt is in `metadata`.
"""

from __future__ import annotations

from typing import Any

from trajectories.conversations import conversation
from trajectories.formats.record_format import Record, RecordFormat
from trajectories.leftovers import Extras, keep
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.pairing import Fields, Sides, make_pair
from trajectories.refusal import kind, refuse, shown
from trajectories.tool_calls import read_tools
from trajectories.trajectory import Trajectory
from trajectories.turns import read_answer, read_turns

_FIELD = "messages"
_KNOWN = frozenset({"schemaVersion", "system", "toolConfig", _FIELD})
_LABELS = ("preferred", "non-preferred")


def is_nova(record: Record) -> bool:
    """Whether a record with messages is in Nova's form rather than OpenAI's."""
    if "schemaVersion" in record or isinstance(record.get("system"), list):
        return True
    messages = record.get(_FIELD)
    last = messages[-1] if isinstance(messages, list) and messages else None
    return isinstance(last, dict) and ("candidates" in last or _has_bare_parts(last))


def _has_bare_parts(turn: dict[str, Any]) -> bool:
    content = turn.get("content")
    if not isinstance(content, list) or not content:
        return False
    return isinstance(content[0], dict) and "type" not in content[0]


def _candidates(record: Record) -> object:
    messages = record.get(_FIELD)
    last = messages[-1] if isinstance(messages, list) and messages else None
    return last.get("candidates") if isinstance(last, dict) else None


def _fits_sft(record: Record) -> bool:
    return _FIELD in record and is_nova(record) and _candidates(record) is None


def _fits_dpo(record: Record) -> bool:
    return _FIELD in record and _candidates(record) is not None


def _read_sft(record: Record) -> Trajectory:
    extras: Extras = {}
    turns = _system(record, extras) + read_turns(record.get(_FIELD), _FIELD, extras)
    return conversation(_with_tools(record), turns, _FIELD, _KNOWN, extras)


def _read_dpo(record: Record) -> Pair:
    extras: Extras = {}
    messages = record.get(_FIELD)
    if not isinstance(messages, list) or _candidates(record) is None:
        refuse(f"{_FIELD}[-1].candidates", "is missing", "give two candidates in the last turn")
    place = f"{_FIELD}[{len(messages) - 1}].candidates"
    fields = Fields(_FIELD, f"{place} preferred", f"{place} non-preferred")
    keep(extras, f"{_FIELD}[{len(messages) - 1}]", messages[-1], {"role", "candidates"})
    chosen, rejected = _sides(messages[-1]["candidates"], place, extras)
    prompt = _system(record, extras) + read_turns(messages[:-1], _FIELD, extras)
    sides = Sides(prompt, chosen, rejected)
    return make_pair(_with_tools(record), sides, fields, _KNOWN, extras)


def _sides(
    candidates: object, place: str, extras: Extras
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    if not isinstance(candidates, list):
        refuse(place, f"is {kind(candidates)}, not a list", "give two candidates")
    found: dict[str, tuple[Message, ...]] = {}
    for number, one in enumerate(candidates):
        where = f"{place}[{number}]"
        label = one.get("preferenceLabel") if isinstance(one, dict) else None
        if label not in _LABELS:
            refuse(where, f"has the preferenceLabel {shown(label)}", f"use {' and '.join(_LABELS)}")
        if label in found:
            refuse(where, f"is a second one that is {label}", "give one of each label")
        keep(extras, where, one, {"content", "preferenceLabel"})
        turn = {"role": "assistant", "content": one.get("content")}
        found[label] = read_answer(turn, where, extras)
    for label in _LABELS:
        if label not in found:
            refuse(place, f"has no candidate that is {label}", "give one of each label")
    return found[_LABELS[0]], found[_LABELS[1]]


def _system(record: Record, extras: Extras) -> tuple[Message, ...]:
    system = record.get("system")
    if system is None or system in ("", []):
        return ()
    return read_answer({"role": "system", "content": system}, "system", extras)


def _with_tools(record: Record) -> Record:
    """The record, with its tools where other formats have them."""
    config = record.get("toolConfig")
    tools = config.get("tools") if isinstance(config, dict) else None
    return {**record, "tools": read_tools(tools, "toolConfig.tools")} if tools else record


SFT = RecordFormat(
    name="nova_sft",
    marks="messages in Nova's form (schemaVersion, or parts such as {text})",
    fits=_fits_sft,
    read=_read_sft,
)
DPO = RecordFormat(
    name="nova_dpo",
    marks="a last message with candidates",
    fits=_fits_dpo,
    read=_read_dpo,
    noun="pair",
)
