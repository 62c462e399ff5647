"""One turn, made quickly and made carefully."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.model import canonical_json
from trajectories.canonical import canonical, number
from trajectories.message import Message, ToolCall, plain, words

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.sampled_from(["system", "user", "assistant", "tool"]), TEXT)
def test_a_turn_that_was_said_is_the_turn_that_was_made(role, content: str) -> None:
    made, said = Message(role=role, content=content), Message.said(role, content)
    assert said == made
    assert hash(said) == hash(made)
    assert said.model_dump() == made.model_dump()
    assert said.model_dump(exclude_defaults=True) == made.model_dump(exclude_defaults=True)
    assert said.model_fields_set == made.model_fields_set
    assert repr(said) == repr(made)
    assert pickle.loads(pickle.dumps(said)) == copy.deepcopy(said) == made
    assert said.model_copy(update={"learnt": False}) != said
    with pytest.raises(ValidationError, match="frozen"):
        said.content = "other"


def test_turns_that_were_said_share_nothing() -> None:
    first, second = Message.said("user", "a"), Message.said("user", "b")
    assert (first.content, second.content) == ("a", "b")
    assert first.__dict__ is not second.__dict__


@given(TEXT, st.floats(allow_nan=False, allow_infinity=False), st.booleans())
def test_canonical_bytes_are_those_that_contracts_write(
    text: str, reward: float, learnt: bool
) -> None:
    turn = Message(
        role="assistant",
        content=text,
        reasoning=text,
        tool_calls=(ToolCall(id=text, name=text, arguments=text),),
        images=(text,),
        reward=reward,
        learnt=learnt,
    )
    made = canonical(plain([turn]))
    assert canonical({"a": number(reward), "b": text}) == canonical_json({"a": reward, "b": text})
    other = [
        {**one, "reward": reward} if "reward" in one else one
        for one in plain([turn.model_copy(update={"reward": None})])
    ]
    assert canonical_json([{**other[0], "reward": float(reward)}]) == made


def test_calls_and_reasoning_are_words_and_white_space_is_none() -> None:
    one = Message(role="assistant", content="a  b", reasoning="c")
    assert words([one]) == words([one.model_copy(update={"content": " a\nb "})])
    assert words([one]) != words([one.model_copy(update={"reasoning": "d"})])
    call = ToolCall(name="f", arguments="{}")
    assert words([one]) != words([one.model_copy(update={"tool_calls": (call,)})])
