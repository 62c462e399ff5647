"""Prompts without answers, which a policy that plays is given: verl, SkyRL, Nova RFT and TRL.

`{"prompt": [{role, content}, …], "reward_model": …}` is verl's, with `reward_spec` or `env_class`
SkyRL's, alone TRL's; `{"messages": […], "reference_answer": …}` or `{"metadata": {"prompt": …}}`
is Nova's for reinforcement fine-tuning. What else a record has is kept beside it.
"""

from __future__ import annotations

from collections.abc import Callable

from trajectories.conversations import as_given, conversation, prompt_digest
from trajectories.formats.record_format import Record, RecordFormat
from trajectories.formats.trl_pairs import read_prompt
from trajectories.leftovers import Extras
from trajectories.refusal import refuse
from trajectories.trajectory import Trajectory

_ALONE = frozenset({"prompt", "images", "tools"})
_ANSWERS = ("chosen", "rejected", "completion", "completions")
_SKYRL = ("env_class", "reward_spec")
_VERL = ("reward_model", "data_source", "ability")


def _has_prompt(record: Record) -> bool:
    return "prompt" in record and not any(name in record for name in _ANSWERS)


def _fits_skyrl(record: Record) -> bool:
    return _has_prompt(record) and any(name in record for name in _SKYRL)


def _fits_verl(record: Record) -> bool:
    marked = any(name in record for name in _VERL)
    return _has_prompt(record) and marked and not _fits_skyrl(record)


def _fits_trl(record: Record) -> bool:
    return record.keys() <= _ALONE and "prompt" in record


def _fits_nova(record: Record) -> bool:
    if "messages" in record:
        return "reference_answer" in record and "reward" not in record
    metadata = record.get("metadata")
    return isinstance(metadata, dict) and "prompt" in metadata and "prompt" not in record


def _read_prompt(record: Record) -> Trajectory:
    return _prompt(record, record.get("prompt"), "prompt", frozenset({"prompt"}))


def _read_nova(record: Record) -> Trajectory:
    if "messages" in record:
        return _prompt(record, record["messages"], "messages", frozenset({"messages"}))
    given = record.get("metadata")
    if not isinstance(given, dict) or given.get("prompt") is None:
        refuse("metadata.prompt", "is missing", "give messages, or metadata.prompt")
    rest = {name: value for name, value in given.items() if name != "prompt"}
    return _prompt({**record, "metadata": rest}, given["prompt"], "metadata.prompt", frozenset())


def _prompt(record: Record, value: object, field: str, known: frozenset[str]) -> Trajectory:
    if value is None:
        refuse(field, "is missing", "give the prompt as text or a list of messages")
    extras: Extras = {}
    turns = read_prompt(value, field, extras)
    if turns and turns[-1].role == "assistant":
        place = f"{field}[{len(turns) - 1}]"
        refuse(place, "ends the prompt and is the assistant's", "end it with the user's turn")
    task = prompt_digest(turns)
    return conversation(record, as_given(turns), field, known, extras, task=task, is_prompt=True)


def _format(
    name: str,
    marks: str,
    fits: Callable[[Record], bool],
    read: Callable[[Record], Trajectory] = _read_prompt,
) -> RecordFormat:
    return RecordFormat(name=name, marks=marks, fits=fits, read=read, noun="prompt")


SKYRL = _format("skyrl_prompts", "a prompt with env_class or reward_spec", _fits_skyrl)
VERL = _format("verl_prompts", "a prompt with reward_model, data_source or ability", _fits_verl)
TRL = _format("trl_prompts", "a prompt alone", _fits_trl)
NOVA = _format(
    "nova_rft", "messages with a reference_answer, or metadata.prompt", _fits_nova, _read_nova
)
