"""The ledger's keys sort as they are read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contracts import ledger
from contracts.limits import LEDGER_RETENTION_S

RUN = "r260304-050607-abcdef"


@given(
    a=st.tuples(st.integers(1, 99), st.integers(1, 99)),
    b=st.tuples(st.integers(1, 99), st.integers(1, 99)),
)
def test_attempts_of_a_phase_sort_by_round_and_number(
    a: tuple[int, int], b: tuple[int, int]
) -> None:
    keys = [
        ledger.attempt_item_key(RUN, round_, "collect", number)["sk"] for round_, number in (a, b)
    ]
    assert (keys[0] < keys[1]) == (a < b)


@given(a=st.integers(0, 10**8 - 1), b=st.integers(0, 10**8 - 1))
def test_policy_versions_sort_by_number(a: int, b: int) -> None:
    assert (ledger.policy_key("p", a)["sk"] < ledger.policy_key("p", b)["sk"]) == (a < b)


def test_keys_of_different_things_differ() -> None:
    keys = [
        ledger.pipeline_key("p"),
        ledger.lease_key("p"),
        ledger.waiting_key("p", "t", "d"),
        ledger.listing_key("p", RUN),
        ledger.policy_key("p", 1),
        ledger.drop_key("d"),
        ledger.set_object_key("d", "d"),
        ledger.seal_key("d", "d"),
        ledger.unsealed_key("p", "d"),
        ledger.run_key(RUN),
        ledger.attempt_item_key(RUN, 1, "collect", 1),
    ]
    assert len({(key["pk"], key["sk"]) for key in keys}) == len(keys)


def test_items_expire_after_a_year() -> None:
    assert ledger.expiry(1000.9) == 1000 + LEDGER_RETENTION_S == 1000 + 365 * 86_400
