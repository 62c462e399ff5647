"""OpenAI's preference fine-tuning form.

`{"input": {"messages": […], "tools": […]}, "preferred_output": […], "non_preferred_output": […]}`
"""

from __future__ import annotations

from trajectories.conversations import tools_of
from trajectories.formats.record_format import Record, RecordFormat
from trajectories.leftovers import Extras, keep
from trajectories.pair import Pair
from trajectories.pairing import Fields, Sides, make_pair
from trajectories.refusal import kind, refuse
from trajectories.turns import read_answer, read_turns

_FIELDS = Fields("input.messages", "preferred_output", "non_preferred_output")
_KNOWN = frozenset({"input", _FIELDS.chosen, _FIELDS.rejected})


def _fits(record: Record) -> bool:
    return _FIELDS.chosen in record or _FIELDS.rejected in record


def _read(record: Record) -> Pair:
    for field in ("input", _FIELDS.chosen, _FIELDS.rejected):
        if record.get(field) is None:
            refuse(field, "is missing", "give input, preferred_output and non_preferred_output")
    given = record["input"]
    if not isinstance(given, dict) or "messages" not in given:
        refuse("input", f"is {kind(given)} without messages", "write {messages: […]}")
    extras: Extras = {}
    keep(extras, "input", given, {"messages", "tools", "functions"})
    sides = Sides(
        read_turns(given["messages"], _FIELDS.prompt, extras),
        read_answer(record[_FIELDS.chosen], _FIELDS.chosen, extras),
        read_answer(record[_FIELDS.rejected], _FIELDS.rejected, extras),
    )
    return make_pair(record, sides, _FIELDS, _KNOWN, extras, tools_of(given, "input."))


FORMAT = RecordFormat(
    name="openai_pairs",
    marks="preferred_output or non_preferred_output",
    fits=_fits,
    read=_read,
    noun="pair",
)
