from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ContractBroken
from trajectories.message import Message
from trajectories.pair import Pair

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TURNS = st.lists(
    st.builds(Message, role=st.sampled_from(["system", "user", "assistant", "tool"]), content=TEXT),
    max_size=3,
)
PAIRS = st.builds(Pair.of, TURNS, TURNS, TURNS)


@given(PAIRS)
def test_a_pair_comes_back_from_its_line_unchanged(pair: Pair) -> None:
    line = pair.to_line()
    assert line.count(b"\n") == 1
    assert Pair.from_line(line, where="here") == pair


def test_a_pairs_id_is_the_digest_of_its_canonical_content() -> None:
    pair = Pair.of(
        [Message(role="user", content="é")],
        [Message(role="assistant", content="b")],
        [Message(role="assistant", content="c")],
    )
    content = (
        '{"chosen":[{"content":"b","role":"assistant"}],'
        '"prompt":[{"content":"é","role":"user"}],'
        '"rejected":[{"content":"c","role":"assistant"}]}'
    )
    assert pair.id == hashlib.sha256(content.encode()).hexdigest()


def test_a_line_whose_content_was_changed_is_refused() -> None:
    turn = Message(role="user", content="a")
    line = Pair.of([turn], [turn], []).to_line()
    with pytest.raises(ContractBroken, match=r"line 3: .*not the digest"):
        Pair.from_line(line.replace(b'"a"', b'"b"', 1), where="line 3")


def test_a_line_with_an_unknown_field_is_refused() -> None:
    pair = Pair.of([], [], [])
    line = json.dumps({**json.loads(pair.to_line()), "score": 1})
    with pytest.raises(ContractBroken, match=r"line 1: score"):
        Pair.from_line(line, where="line 1")
