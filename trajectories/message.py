"""One turn of a conversation, with all that a policy may have said or been given in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from contracts.model import Contract

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(Contract):
    """A call that the assistant makes: which function, with which arguments."""

    id: str = ""
    name: str
    arguments: str = Field(description="JSON text, as given; an object becomes canonical JSON.")


class Message(Contract):
    """One turn; what is empty was not there."""

    role: Role
    content: str = ""
    reasoning: str = Field("", description="Thought before the content, not shown to the user.")
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = Field("", description="Which call a tool's turn answers.")
    name: str = Field("", description="Who speaks, of several in one role.")
    images: tuple[str, ...] = Field((), description="References, never fetched.")
    reward: float | None = Field(None, description="Earned by this turn alone.")
    learnt: bool = Field(True, description="Whether an assistant's turn is learnt from.")


def plain(turns: Sequence[Message]) -> list[dict[str, Any]]:
    """Turns as JSON values without what is not there: what digests are taken of."""
    return [_plain(turn) for turn in turns]


def _plain(turn: Message) -> dict[str, Any]:
    values = turn.model_dump(mode="json", exclude_defaults=True)
    return {**values, "role": turn.role, "content": turn.content}
