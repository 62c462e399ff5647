from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.splitting import is_held_out, split


def pair(prompt: str, answer: str = "a") -> Pair:
    return Pair.of(
        [Message(role="user", content=prompt)],
        [Message(role="assistant", content=answer)],
        [Message(role="assistant", content=answer + "!")],
    )


def test_pairs_of_one_prompt_fall_on_one_side() -> None:
    for number in range(200):
        sides = {is_held_out(pair(f"p{number}", answer), 0.5) for answer in "abcd"}
        assert len(sides) == 1


def test_the_share_of_prompts_is_met() -> None:
    pairs = [pair(f"prompt {number}") for number in range(4000)]
    for share in (0.1, 0.25, 0.8):
        held_out = sum(is_held_out(one, share) for one in pairs) / len(pairs)
        assert abs(held_out - share) < 0.03


def test_the_split_is_the_same_in_every_run() -> None:
    chosen = [number for number in range(20) if is_held_out(pair(f"prompt {number}"), 0.25)]
    assert chosen == [3, 8, 9, 17]


@given(st.text(max_size=20), st.floats(0, 1), st.floats(0, 1))
def test_raising_the_share_only_adds(prompt: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    made = pair(prompt.encode("utf-8", "replace").decode())
    assert is_held_out(made, low) <= is_held_out(made, high)


def test_nothing_is_held_out_at_zero_and_everything_at_one() -> None:
    pairs = [pair(f"{number}") for number in range(50)]
    assert split(pairs, 0) == (tuple(pairs), ())
    assert split(pairs, 1) == ((), tuple(pairs))


def test_splitting_keeps_every_pair_and_its_order() -> None:
    pairs = [pair(f"{number}") for number in range(50)]
    training, held_out = split(pairs, 0.3)
    assert sorted(training + held_out, key=pairs.index) == pairs
    assert list(training) == sorted(training, key=pairs.index)
