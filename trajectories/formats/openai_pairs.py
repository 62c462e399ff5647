"""OpenAI's preference fine-tuning form.

`{"input": {"messages": […]}, "preferred_output": […], "non_preferred_output": […]}`
"""

from __future__ import annotations

from trajectories.formats.record_format import Record, RecordFormat
from trajectories.pair import Pair
from trajectories.pairing import Fields, make_pair
from trajectories.refusal import kind, refuse
from trajectories.turns import read_answer, read_turns

_FIELDS = Fields("input.messages", "preferred_output", "non_preferred_output")


def _fits(record: Record) -> bool:
    return _FIELDS.chosen in record or _FIELDS.rejected in record


def _read(record: Record) -> Pair:
    for field in ("input", _FIELDS.chosen, _FIELDS.rejected):
        if record.get(field) is None:
            refuse(field, "is missing", "give input, preferred_output and non_preferred_output")
    given = record["input"]
    if not isinstance(given, dict) or "messages" not in given:
        refuse("input", f"is {kind(given)} without messages", "write {messages: […]}")
    if given.get("tools"):
        refuse(
            "input.tools",
            "declares tools",
            "leave them out: pairs do not carry tools into training",
        )
    return make_pair(
        read_turns(given["messages"], _FIELDS.prompt),
        read_answer(record[_FIELDS.chosen], _FIELDS.chosen),
        read_answer(record[_FIELDS.rejected], _FIELDS.rejected),
        _FIELDS,
    )


FORMAT = RecordFormat(
    name="openai_pairs",
    marks="preferred_output or non_preferred_output",
    fits=_fits,
    read=_read,
)
