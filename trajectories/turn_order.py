"""Which turns may follow which, and which call a tool's turn answers."""

from __future__ import annotations

from collections.abc import Sequence

from trajectories.message import Message
from trajectories.refusal import refuse, shown


def check_turns(
    turns: Sequence[Message], field: str, *, is_prompt: bool = False, is_log: bool = False
) -> None:
    """Make sure that a conversation can be learnt from as it stands.

    Several turns of one role in a row are taken as they are. A log may hold observations by a
    tool that nobody called: agents without function calling act by text.

    Args:
        turns: the conversation.
        field: its path in the record.
        is_prompt: whether it may do without a turn by the assistant.
        is_log: whether it is an agent's log.

    Raises:
        RecordRefused: nobody speaks, an empty turn, a system turn in the middle, an answer to
            nothing, or a tool's turn without its call.
    """
    if not turns:
        refuse(field, "holds no turn", "give at least the user's question")
    roles = {turn.role for turn in turns}
    if not is_prompt and "assistant" not in roles:
        refuse(field, "holds no turn by the assistant", "leave it out: there is nothing to learn")
    if turns[0].role == "assistant":
        refuse(
            f"{field}[0]",
            "is the assistant's, before anything was said to it",
            "begin with what it answers, as a system or user turn",
        )
    check_places(turns, field)
    if "tool" in roles:
        check_tools(turns, [f"{field}[{place}]" for place in range(len(turns))], is_log=is_log)


def check_places(turns: Sequence[Message], field: str) -> None:
    """Make sure that no turn but a tool's or the system's is empty, and that the system is first.

    Raises:
        RecordRefused: one is.
    """
    begun = False
    for place, turn in enumerate(turns):
        if turn.role == "system":
            if begun:
                where = f"{field}[{place}]"
                refuse(where, "is a system turn after the first turn", "put it first")
            continue
        begun = True
        if turn.role != "tool" and turn.is_empty:
            refuse(f"{field}[{place}]", "is an empty turn", "write its text, or leave it out")


def check_tools(turns: Sequence[Message], places: Sequence[str], *, is_log: bool = False) -> None:
    """Make sure that each tool's turn answers a call made before it.

    Args:
        turns: a whole conversation.
        places: each one's path in the record.
        is_log: whether a turn by a tool may do without a call, if it names none.

    Raises:
        RecordRefused: one does not.
    """
    calls: set[str] = set()
    calling = False
    for turn, place in zip(turns, places, strict=True):
        if turn.role == "tool":
            _check_answer(turn, place, calls, calling=calling or is_log)
        else:
            calls |= {call.id for call in turn.tool_calls}
            calling = bool(turn.tool_calls)


def _check_answer(turn: Message, place: str, calls: set[str], *, calling: bool) -> None:
    asked = turn.tool_call_id
    if asked and calls.isdisjoint({asked, ""}):
        refuse(
            f"{place}.tool_call_id",
            f"is {shown(asked)}, a call that was not made before",
            "put the assistant's turn with that call before it",
        )
    if not asked and not calling:
        refuse(
            place,
            "is a tool's turn that answers no call",
            "put the assistant's turn with the call before it, or leave it out",
        )
