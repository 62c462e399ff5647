"""Words that agree with numbers."""

from __future__ import annotations

import pytest

from contracts.counting import agreeing, counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 pairs"), (1, "1 pair"), (1.0, "1 pair"), (2000, "2,000 pairs")]
)
def test_a_noun_agrees_with_its_number(number: float, words: str) -> None:
    assert counted(number, "pair") == words


def test_what_does_more_than_take_an_s_is_given_in_both_forms() -> None:
    assert counted(1, "pair is", "pairs are") == "1 pair is"
    assert counted(2, "pair is", "pairs are") == "2 pairs are"
    assert agreeing(1, "is", "are") == "is"
