"""Intervals against published values, and against what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.statistics.proportions import difference, paired_difference, wilson
from training.statistics.student import student_quantile

counts = st.tuples(*[st.integers(0, 60)] * 4).filter(lambda cells: sum(cells) > 0)


@pytest.mark.parametrize(
    ("wins", "total", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), 857–872, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_bounds(wins: int, total: int, low: float, high: float) -> None:
    found = wilson(wins, total)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_the_paired_interval_gives_the_published_bounds() -> None:
    found = paired_difference(1, 1, 7, 12)
    assert found.value == pytest.approx(-6 / 21)
    assert (found.low, found.high) == pytest.approx((-0.507, -0.026), abs=6e-4)


@given(counts)
def test_a_difference_lies_within_its_bounds_and_turns_with_its_sides(
    cells: tuple[int, int, int, int],
) -> None:
    both, first, second, neither = cells
    found = paired_difference(both, first, second, neither)
    assert -1 <= found.low <= found.value <= found.high <= 1
    turned = paired_difference(both, second, first, neither)
    assert (turned.low, turned.high) == (pytest.approx(-found.high), pytest.approx(-found.low))


def test_the_paired_interval_covers_the_truth_as_often_as_it_says() -> None:
    draw = np.random.default_rng(0)
    cells = np.array([0.45, 0.25, 0.10, 0.20])
    truth, covered, tries = 0.15, 0, 2_000
    for _ in range(tries):
        found = paired_difference(*(int(count) for count in draw.multinomial(80, cells)))
        covered += found.low <= truth <= found.high
    assert 0.935 <= covered / tries <= 0.975


def test_no_change_at_all_is_no_gain() -> None:
    found = paired_difference(30, 0, 0, 10)
    assert found.value == 0
    assert found.low < 0 < found.high


@pytest.mark.parametrize(
    ("freedom", "published"),
    [(1, 12.7062), (4, 2.7764), (9, 2.2622), (10, 2.2281), (30, 2.0423), (1000, 1.9623)],
)
def test_students_quantiles_are_the_published_ones(freedom: int, published: float) -> None:
    assert student_quantile(freedom) == pytest.approx(published, abs=6e-4)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), 873–890, table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_the_interval_of_independent_shares_gives_the_published_bounds(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    found = difference(wilson(*first), wilson(*second))
    assert found.value == pytest.approx(first[0] / first[1] - second[0] / second[1])
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
