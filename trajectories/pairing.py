"""When two answers to a prompt make a pair that something can be learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from trajectories.conversations import USED, tools_of
from trajectories.leftovers import Extras, metadata_of
from trajectories.message import Message, words
from trajectories.numbers import read_number
from trajectories.pair import Pair
from trajectories.pictures import place_images
from trajectories.refusal import refuse
from trajectories.turn_order import check_places, check_tools

Turns = Sequence[Message]


class Fields(NamedTuple):
    """What the format calls the three parts, for a problem's address."""

    prompt: str
    chosen: str
    rejected: str


class Sides(NamedTuple):
    """The three parts."""

    prompt: Turns
    chosen: Turns
    rejected: Turns


def make_pair(
    record: dict[str, Any],
    sides: Sides,
    fields: Fields,
    known: AbstractSet[str],
    extras: Extras,
    tools: str = "",
) -> Pair:
    """Check the three parts against one another and join them.

    Args:
        record: as it was decoded; may list tools and images.
        sides: read from it.
        fields: where they were.
        known: fields of the record that have been used.
        extras: what is left of its turns.
        tools: declarations, where they are not a field of the record's own.

    Raises:
        RecordRefused: no prompt, no answer, answers that do not differ, or turns out of order.
    """
    _check_prompt(sides.prompt, fields.prompt)
    _check_answer(sides.prompt, sides.chosen, fields.chosen)
    _check_answer(sides.prompt, sides.rejected, fields.rejected)
    _check_difference(sides.chosen, sides.rejected, fields)
    _check_scores(record)
    shown = _with_images(record, sides)
    return Pair.of(
        *shown,
        tools=tools or tools_of(record),
        metadata=metadata_of(record, known | USED, extras),
    )


def part(chosen: Turns, rejected: Turns, fields: Fields) -> Sides:
    """Two whole conversations as the prompt that they share, and where they go apart.

    Raises:
        RecordRefused: they share nothing, or go apart at a turn that is not the assistant's.
    """
    size = 0
    for mine, other in zip(chosen, rejected, strict=False):
        if mine != other:
            break
        size += 1
    if size and size == len(chosen) == len(rejected):
        # Equal to the last turn: leave that one to the answers, where it is refused by name.
        size -= 1
    for turns, field in ((chosen, fields.chosen), (rejected, fields.rejected)):
        if len(turns) > size and turns[size].role in {"user", "system"}:
            refuse(
                f"{field}[{size}]",
                f"goes apart from the other side at a turn by the {turns[size].role}: "
                "the two answer different prompts",
                "give both answers to one prompt",
            )
    return Sides(chosen[:size], chosen[size:], rejected[size:])


def _check_prompt(prompt: Turns, field: str) -> None:
    if not prompt:
        refuse(field, "holds no turn", "give at least the user's question")
    check_places(prompt, field)
    last = prompt[-1].role
    if last not in {"user", "tool"}:
        refuse(
            f"{field}[{len(prompt) - 1}]",
            f"is the prompt's last turn and is by the {last}, not the user",
            "end the prompt with the user's turn: both answers reply to it",
        )


def _check_answer(prompt: Turns, answer: Turns, field: str) -> None:
    if not answer:
        refuse(field, "holds no answer", "give the assistant's answer")
    for turn in answer:
        if turn.role == "system":
            refuse(field, "holds a system turn", "put it first in the prompt")
        if turn.is_empty and turn.role != "tool":
            refuse(field, "is empty", "give the assistant's answer, or leave the record out")
    for turn, which in ((answer[0], "begins"), (answer[-1], "ends")):
        if turn.role != "assistant":
            refuse(
                field,
                f"{which} with a turn by the {turn.role}",
                "let an answer begin and end with the assistant's turn",
            )
    places = [f"prompt[{place}]" for place in range(len(prompt))]
    places += [f"{field}[{place}]" for place in range(len(answer))]
    check_tools((*prompt, *answer), places, is_log=True)


def _check_difference(chosen: Turns, rejected: Turns, fields: Fields) -> None:
    both = f"{fields.chosen} and {fields.rejected}"
    remedy = "leave the record out: nothing can be learnt from it"
    if tuple(chosen) == tuple(rejected):
        refuse(fields.rejected, f"{both} are equal", remedy)
    if words(chosen) == words(rejected):
        refuse(fields.rejected, f"{both} differ in white space only", remedy)


def _check_scores(record: dict[str, Any]) -> None:
    """Scores beside the sides say the same as the sides, or the sides may be swapped."""
    better, worse = (
        read_number(record.get(name), name) for name in ("score_chosen", "score_rejected")
    )
    if better is not None and worse is not None and better < worse:
        refuse(
            "score_chosen",
            f"is {better:g}, below score_rejected {worse:g}",
            "swap the sides, or leave the scores out",
        )


def _with_images(record: dict[str, Any], sides: Sides) -> Sides:
    """Images are those of the prompt and the preferred side; the other one may repeat its own."""
    size = len(sides.prompt)
    placed = place_images((*sides.prompt, *sides.chosen), record)
    return Sides(placed[:size], placed[size:], sides.rejected)
