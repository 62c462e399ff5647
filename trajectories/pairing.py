"""When two answers to a prompt make a pair that something can be learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.refusal import refuse


class Fields(NamedTuple):
    """What the format calls the three parts, for a problem's address."""

    prompt: str
    chosen: str
    rejected: str


def make_pair(
    prompt: Sequence[Message],
    chosen: Sequence[Message],
    rejected: Sequence[Message],
    fields: Fields,
) -> Pair:
    """Check the three parts against one another and join them.

    Raises:
        RecordRefused: no prompt, no answer, answers that do not differ, or turns out of order.
    """
    _check_prompt(prompt, fields.prompt)
    _check_answer(chosen, fields.chosen)
    _check_answer(rejected, fields.rejected)
    _check_difference(chosen, rejected, fields)
    return Pair.of(prompt, chosen, rejected)


def _check_prompt(prompt: Sequence[Message], field: str) -> None:
    if not prompt:
        refuse(field, "holds no turn", "give at least the user's question")
    for place, turn in enumerate(prompt):
        if not turn.content.strip():
            refuse(f"{field}[{place}]", "is an empty turn", "write its text or take the turn out")
        if turn.role == "system" and place:
            refuse(f"{field}[{place}]", "is a system turn after the first turn", "put it first")
    last = prompt[-1].role
    if last not in {"user", "tool"}:
        refuse(
            f"{field}[{len(prompt) - 1}]",
            f"is the prompt's last turn and is by the {last}, not the user",
            "end the prompt with the user's turn: both answers reply to it",
        )


def _check_answer(answer: Sequence[Message], field: str) -> None:
    if not answer:
        refuse(field, "holds no answer", "give the assistant's answer")
    for turn in answer:
        if turn.role == "system":
            refuse(field, "holds a system turn", "put it first in the prompt")
        if not turn.content.strip():
            refuse(field, "is empty", "give the assistant's answer, or leave the record out")
    for turn, which in ((answer[0], "begins"), (answer[-1], "ends")):
        if turn.role != "assistant":
            refuse(
                field,
                f"{which} with a turn by the {turn.role}",
                "let an answer begin and end with the assistant's turn",
            )


def _check_difference(
    chosen: Sequence[Message], rejected: Sequence[Message], fields: Fields
) -> None:
    both = f"{fields.chosen} and {fields.rejected}"
    remedy = "leave the record out: nothing can be learnt from it"
    if tuple(chosen) == tuple(rejected):
        refuse(fields.rejected, f"{both} are equal", remedy)
    if _words(chosen) == _words(rejected):
        refuse(fields.rejected, f"{both} differ in white space only", remedy)


def _words(turns: Sequence[Message]) -> list[tuple[str, list[str]]]:
    return [(turn.role, turn.content.split()) for turn in turns]
