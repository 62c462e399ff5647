"""One turn of a conversation, with all that a policy may have said or been given in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field

from contracts.model import Contract
from trajectories.canonical import number

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

    @classmethod
    def said(cls, role: Role, content: str) -> Self:
        """What `Message(role=role, content=content)` makes, in half the time.

        Nothing is checked: most turns of most files are made here, of values that were looked at.
        """
        made = cls.__new__(cls)
        fields = _NOTHING_BESIDES.copy()
        fields["role"], fields["content"] = role, content
        object.__setattr__(made, "__dict__", fields)
        object.__setattr__(made, "__pydantic_fields_set__", _SAID)
        object.__setattr__(made, "__pydantic_extra__", None)
        object.__setattr__(made, "__pydantic_private__", None)
        return made

    @property
    def is_empty(self) -> bool:
        """Nothing was said, thought, called or shown."""
        return not (self.content.strip() or self.tool_calls or self.reasoning or self.images)


_SAID = {"role", "content"}
"""Shared by all: turns are frozen, and copies of them copy it."""
_NOTHING_BESIDES: dict[str, Any] = dict(Message(role="user"))


def plain(turns: Sequence[Message]) -> list[dict[str, Any]]:
    """Turns as `canonical` takes them, without what is not there: what digests are taken of."""
    return [_plain(turn) for turn in turns]


def words(turns: Sequence[Message]) -> list[tuple[object, ...]]:
    """What was said and called, white space aside: equal for answers that do not differ."""
    return [
        (
            turn.role,
            *turn.content.split(),
            *(word for call in turn.tool_calls for word in (call.name, call.arguments)),
            *turn.reasoning.split(),
        )
        for turn in turns
    ]


def _plain(turn: Message) -> dict[str, Any]:
    made: dict[str, Any] = {"role": turn.role, "content": turn.content}
    if turn.tool_calls:
        made["tool_calls"] = [_plain_call(call) for call in turn.tool_calls]
    if turn.reasoning:
        made["reasoning"] = turn.reasoning
    if turn.tool_call_id:
        made["tool_call_id"] = turn.tool_call_id
    if turn.name:
        made["name"] = turn.name
    if turn.images:
        made["images"] = list(turn.images)
    if turn.reward is not None:
        made["reward"] = number(turn.reward)
    if not turn.learnt:
        made["learnt"] = False
    return made


def _plain_call(call: ToolCall) -> dict[str, str]:
    made = {"name": call.name, "arguments": call.arguments}
    return {**made, "id": call.id} if call.id else made
