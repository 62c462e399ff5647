"""What was encoded is on disk, and comes back as it was."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_pairs import make_pairs
from tiny_policy import random_pairs

from training.episodes.encoding import Encoded, Row, encode, of_trajectory
from training.episodes.shelf import shelf_of_encoded, shelf_of_pairs, shelf_of_rows
from training.models.tokenizer import texts_of, train_tokenizer
from trajectories.message import Message
from trajectories.trajectory import Trajectory

IDS = st.lists(st.integers(0, 200_000), max_size=5).map(tuple)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.builds(Row, IDS, IDS), max_size=9))
def test_rows_come_back_in_any_order_and_may_be_added_after_reading(
    rows: list[Row], tmp_path: Path
) -> None:
    shelf = shelf_of_rows(tmp_path)
    for place, row in enumerate(rows):
        shelf.add(row)
        assert shelf[place] == row
    assert list(shelf) == rows
    assert shelf[1:3] == rows[1:3]
    order = list(range(len(rows)))[::2][::-1]
    shelf.arrange(order)
    assert list(shelf) == [rows[place] for place in order]
    with pytest.raises(IndexError):
        shelf[len(shelf)]


def test_pairs_come_back_and_their_digest_is_of_all_they_hold() -> None:
    pairs = random_pairs(20)
    one, same, other = shelf_of_pairs(None), shelf_of_pairs(None), shelf_of_pairs(None)
    for pair in pairs:
        one.add(pair)
        same.add(pair)
    for pair in pairs[::-1]:
        other.add(pair)
    assert list(one) == pairs
    assert one.digest == same.digest != other.digest
    before = one.digest
    one.arrange(range(10))
    assert one.digest != before


def test_conversations_come_back_before_they_are_cut(tmp_path: Path) -> None:
    tokenizer = train_tokenizer(texts_of(make_pairs(20)), vocab_size=320, context=64)
    roles = ["system", "user", "user", "assistant", "user", "assistant"]
    turns = [Message.model_validate({"role": one, "content": f"a {one}"}) for one in roles]
    games = [Trajectory.of("t", str(trial), 1.0, turns) for trial in range(3)]
    shelf, kept = shelf_of_encoded(tmp_path), list[Encoded]()
    for context in (2, 1000):
        for _, encoded in encode(games, of_trajectory, tokenizer, context=context):
            shelf.add(encoded)
            kept.append(encoded)
    assert kept[0].prompt != kept[-1].prompt
    assert list(shelf) == kept


def test_an_item_costs_next_to_nothing_in_memory(tmp_path: Path) -> None:
    shelf = shelf_of_rows(tmp_path)
    row = Row(tuple(range(1000, 3000)), (1,) * 2000)
    shelf.add(row)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(1000):
        shelf.add(row)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 100_000
