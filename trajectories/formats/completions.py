"""A prompt and its one answer: TRL's form, and verifiers' rollouts, which have a reward.

`{"prompt": …, "completion": …}`, both text or messages, with an optional `label`; a rollout is
`{"example_id": …, "prompt": […], "completion": […], "reward": 1.0, …}`.
"""

from __future__ import annotations

from trajectories.conversations import as_given, conversation, label_of, prompt_digest
from trajectories.formats.record_format import Record, RecordFormat
from trajectories.formats.trl_pairs import read_prompt
from trajectories.leftovers import Extras
from trajectories.message import Message
from trajectories.naming import name_of
from trajectories.numbers import read_number
from trajectories.refusal import refuse
from trajectories.trajectory import Trajectory
from trajectories.turns import read_answer

_FIELDS = ("prompt", "completion")
_TRL = frozenset({*_FIELDS, "label"})
_ROLLOUT = frozenset({*_FIELDS, "example_id", "trajectory_id", "reward"})
_ROLLOUT_MARKS = ("reward", "example_id")


def _fits_trl(record: Record) -> bool:
    return "completion" in record and not _fits_rollout(record)


def _fits_rollout(record: Record) -> bool:
    return "completion" in record and any(name in record for name in _ROLLOUT_MARKS)


def _read_trl(record: Record) -> Trajectory:
    extras: Extras = {}
    prompt, answer = _parts(record, extras)
    return conversation(
        record,
        as_given(prompt) + answer,
        "completion",
        _TRL,
        extras,
        label=label_of(record),
    )


def _read_rollout(record: Record) -> Trajectory:
    extras: Extras = {}
    prompt, answer = _parts(record, extras)
    reward = read_number(record.get("reward"), "reward")
    if reward is None:
        refuse("reward", "is missing", "give the rollout's reward as a number")
    return conversation(
        record,
        as_given(prompt) + answer,
        "completion",
        _ROLLOUT,
        extras,
        task=_example(record) or prompt_digest(prompt),
        trial=name_of(record.get("trajectory_id"), "trajectory_id"),
        reward=reward,
        is_log=True,
    )


def _example(record: Record) -> str:
    """The example, within its environment where that is named."""
    example = name_of(record.get("example_id"), "example_id")
    of = record.get("task")
    return f"{of}/{example}" if example and isinstance(of, str) and of else example


def _parts(record: Record, extras: Extras) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    for field in _FIELDS:
        if record.get(field) is None:
            refuse(field, "is missing", "give prompt and completion")
    prompt = read_prompt(record["prompt"], "prompt", extras)
    answer = read_answer(record["completion"], "completion", extras)
    if not any(turn.role == "assistant" for turn in answer):
        refuse("completion", "holds no turn by the assistant", "give the assistant's answer")
    return prompt, answer


TRL = RecordFormat(
    name="trl_completions",
    marks="prompt and completion, without a reward",
    fits=_fits_trl,
    read=_read_trl,
    noun="answer",
)
VERIFIERS = RecordFormat(
    name="verifiers",
    marks="completion with a reward or an example_id",
    fits=_fits_rollout,
    read=_read_rollout,
    noun="episode",
)
