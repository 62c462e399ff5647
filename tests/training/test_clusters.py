"""Intervals of cases in clusters: against closed forms, and against what they promise."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.statistics.clusters import (
    clustered_gain,
    clustered_mean,
    clustered_share,
    gain_of,
    share_of,
    worth_in_cases,
)
from training.statistics.proportions import paired_difference, wilson


def test_a_mean_of_cases_apart_is_students_textbook_case() -> None:
    """Student's own table of sleep gained by ten patients (Biometrika 6, 1908, section IX)."""
    found = clustered_mean([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4], range(10))
    assert found.value == pytest.approx(1.58)
    assert (found.low, found.high) == pytest.approx((0.70, 2.46), abs=5e-3)


@given(st.lists(st.lists(st.floats(-5, 5), min_size=4, max_size=4), min_size=3, max_size=8))
def test_clusters_of_one_size_are_worth_their_means(clusters: list[list[float]]) -> None:
    """Then the jackknife is the textbook's variance of the clusters' means."""
    values = [value for some in clusters for value in some]
    found = clustered_mean(values, [place // 4 for place in range(len(values))])
    means = clustered_mean([statistics.fmean(some) for some in clusters], range(len(clusters)))
    assert tuple(found) == pytest.approx(tuple(means), abs=1e-9)


def test_clusters_of_different_sizes_give_the_interval_reckoned_by_hand() -> None:
    """Without a the mean is 3, without b 5/3, without c 2.5; with all of them 2.4."""
    found = clustered_mean([1.0, 2.0, 3.0, 4.0, 2.0], "aabbc")
    without = ((3 - 2.4) ** 2, (5 / 3 - 2.4) ** 2, (2.5 - 2.4) ** 2)
    half = 4.3027 * math.sqrt(2 / 3 * sum(without))
    assert tuple(found) == pytest.approx((2.4, 2.4 - half, 2.4 + half))


@pytest.mark.parametrize(("size", "count"), [(4, 6), (20, 3), (2, 40)])
def test_cases_that_go_with_their_cluster_are_worth_about_one_a_cluster(
    size: int, count: int
) -> None:
    """The design effect is (kC − 1) / (C − 1) then; Student's quantiles come on top."""
    won = [bool(place // size % 2) for place in range(size * count)]
    clusters = [place // size for place in range(size * count)]
    quantiles = {(4, 6): (2.0687, 2.5706), (20, 3): (2.0010, 4.3027), (2, 40): (1.9905, 2.0227)}
    cases, few = quantiles[size, count]
    worth = size * count * (count - 1) / (size * count - 1) * (cases / few) ** 2
    found = clustered_share(won, clusters)
    assert tuple(found) == pytest.approx(tuple(wilson(worth * found.value, worth)), abs=1e-4)


def test_cases_apart_have_the_plain_intervals() -> None:
    before, after = [True, False, False, True] * 5, [True, True, True, False] * 5
    gain = clustered_gain(before, after, range(20))
    assert tuple(gain) == pytest.approx(tuple(paired_difference(5, 10, 5, 0)))
    share = clustered_share(after, range(20))
    assert tuple(share) == pytest.approx(tuple(wilson(15, 20)))


def test_where_all_cases_go_alike_a_cluster_counts_for_one() -> None:
    gain = clustered_gain([False] * 200, [True] * 200, [place % 5 for place in range(200)])
    fewer = (1.9720 / 2.7764) ** 2
    assert tuple(gain) == pytest.approx(tuple(paired_difference(0, 5 * fewer, 0, 0)), abs=1e-4)
    three = clustered_gain([False] * 300, [True] * 300, [place % 3 for place in range(300)])
    assert three.value == 1
    assert three.low < 0


def test_clusters_that_differ_less_than_chance_win_nothing() -> None:
    assert worth_in_cases(30, 30, alone=0.5, together=0.1) == 30
    assert worth_in_cases(30, 30, alone=0.0, together=0.0) == 30


@pytest.mark.parametrize("clusters", ["aaaaaa", "ababab"])
def test_of_two_clusters_at_most_nothing_is_known_but_the_figure(clusters: str) -> None:
    won = [True, False, True, True, True, True]
    known = [
        clustered_mean([float(one) for one in won], clusters),
        clustered_share(won, clusters),
        clustered_gain([False] * 6, won, clusters),
        share_of(5 / 6, 0.0),
        gain_of(0.0, 5 / 6, 0.0, worth=0.0),
    ]
    for found in known:
        assert found.value == pytest.approx(5 / 6)
        assert (found.low, found.high) == (-math.inf, math.inf)
        assert found.named("gain") == {"gain": found.value}


def test_the_interval_of_a_gain_holds_the_truth_as_often_as_it_says_when_tasks_differ() -> None:
    """Each task gains, or loses, by itself; nothing is gained on average."""
    draw = np.random.default_rng(0)
    held = held_by_cases = 0
    for _ in range(300):
        tasks = [task for task in range(12) for _ in range(8)]
        odds = draw.beta(0.5, 0.5, size=(12, 2))
        before, after = ((draw.random(96) < odds[tasks, side]).tolist() for side in (0, 1))
        one = clustered_gain(before, after, tasks)
        held += one.low <= 0 <= one.high
        plain = clustered_gain(before, after, range(96))
        held_by_cases += plain.low <= 0 <= plain.high
    assert held / 300 >= 0.93
    assert held_by_cases / 300 < 0.75
