"""What is said of costs is what the code does."""

from __future__ import annotations

import pytest
from counting import CALL, MESSAGE, WRITE, Counts
from measured import measured
from page import PAGE, filled
from prices import USES, costs


@pytest.fixture(scope="module")
def counts() -> dict[str, Counts]:
    return measured()


def test_the_page_says_what_was_counted(counts: dict[str, Counts]) -> None:
    text = PAGE.read_text()
    assert filled(text, counts) == text, "python tests/costs/page.py writes the tables anew"


def test_counting_twice_finds_the_same(counts: dict[str, Counts]) -> None:
    assert measured() == counts


def test_a_run_is_six_calls_of_the_state_machine_and_four_reports(
    counts: dict[str, Counts],
) -> None:
    """Three jobs submitted, three decisions; three results and one end."""
    assert counts["a run"][CALL] == 6 + 4
    assert counts["a drop"][CALL] == 1
    assert counts["a progress report"][MESSAGE] == 3


def test_an_idle_sweep_writes_nothing(counts: dict[str, Counts]) -> None:
    idle = [counts[what] for what in counts if what.startswith("a sweep")]
    assert [one[WRITE] for one in idle] == [0, 0, 0]


def test_ten_thousand_times_the_drops_cost_far_less_than_that(counts: dict[str, Counts]) -> None:
    small, _, large = (sum(costs(use, counts).values()) for use in USES)
    assert large / small < 100
