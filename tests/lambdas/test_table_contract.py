"""The ledger's table: the fake and DynamoDB (as moto has it) keep one contract."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from fakes.table import FakeTable

from lambdas.ledger.table import CONFLICT_TRIES, LARGEST, SMALLEST, Table

KEY = {"pk": "P", "sk": "a"}


@pytest.fixture(params=["fake", "dynamodb"])
def table(request: pytest.FixtureRequest) -> Table:
    if request.param == "fake":
        return FakeTable()
    return Table(request.getfixturevalue("dynamodb"), "ledger")


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (1e-200, 0),
        (-5e-324, 0),
        (1.7e308, LARGEST),
        (-1e126, -LARGEST),
        (LARGEST, LARGEST),
        (1.5 * SMALLEST, 1.5 * SMALLEST),
    ],
)
def test_what_a_number_cannot_hold_is_held_as_near_as_may_be(
    table: Table, value: float, held: float
) -> None:
    """A metric may be any float; what reports it must not fail for that."""
    assert table.write(table.put(KEY, {"metric": value}))
    assert float((table.get(KEY) or {})["metric"]) == held


def test_values_come_back_as_they_went(table: Table) -> None:
    values: dict[str, Any] = {
        "text": "ü",
        "empty": "",
        "whole": 7,
        "big": 2**53,
        "small": 0.1,
        "tiny": 1.5e-7,
        "yes": True,
        "list": [1, "two", {"three": 3.5}],
        "map": {"a": {"b": 1}},
        "nothing": None,
    }
    assert table.write(table.put(KEY, values))
    assert table.get(KEY) == {**KEY, **values}


def test_what_is_not_there_is_none(table: Table) -> None:
    assert table.get(KEY) is None
    assert list(table.query("P", "")) == []


def test_a_put_never_replaces(table: Table) -> None:
    assert table.write(table.put(KEY, {"n": 1}))
    assert not table.write(table.put(KEY, {"n": 2}))
    assert table.get(KEY) == {**KEY, "n": 1}


def test_what_was_read_is_a_copy(table: Table) -> None:
    table.write(table.put(KEY, {"map": {"n": 1}}))
    read = table.get(KEY)
    assert read is not None
    read["map"]["n"] = 2
    assert table.get(KEY) == {**KEY, "map": {"n": 1}}


def test_an_update_makes_the_item_if_there_is_none(table: Table) -> None:
    assert table.write(table.update(KEY, set_={"n": 1}))
    assert table.get(KEY) == {**KEY, "n": 1}


@pytest.mark.parametrize(
    ("when", "values", "holds"),
    [
        ("#status = :v", {":v": "OPEN"}, True),
        ("#status = :v", {":v": "open"}, False),
        ("#status <> :v", {":v": "x"}, True),
        ("#absent <> :v", {":v": "x"}, True),
        ("#absent = :v", {":v": "x"}, False),
        ("#absent < :v", {":v": 5}, False),
        ("attribute_not_exists(#absent)", {}, True),
        ("attribute_not_exists(#status)", {}, False),
        ("attribute_exists(#status)", {}, True),
        ("#status IN (:v, :w)", {":v": "a", ":w": "OPEN"}, True),
        ("#status IN (:v, :w)", {":v": "a", ":w": "b"}, False),
        ("#deep.#n < :v", {":v": 8}, True),
        ("#deep.#n < :v", {":v": 7}, False),
        ("#deep.#absent < :v", {":v": 8}, False),
        ("#status = :v AND #deep.#n < :w", {":v": "OPEN", ":w": 8}, True),
        ("#status = :v AND #deep.#n < :w", {":v": "x", ":w": 8}, False),
        ("#status = :v OR #deep.#n < :w", {":v": "x", ":w": 8}, True),
        ("#status = :v AND attribute_not_exists(#deep) OR #n = :w", {":v": "OPEN", ":w": 1}, True),
        ("#n = :v", {":v": "1"}, False),
        ("#yes = :v", {":v": True}, True),
        ("#yes = :v", {":v": False}, False),
    ],
)
def test_conditions(table: Table, when: str, values: dict[str, Any], holds: bool) -> None:
    table.write(table.put(KEY, {"status": "OPEN", "n": 1, "deep": {"n": 7}, "yes": True}))
    assert table.write(table.update(KEY, set_={"new": 1}, when=when, values=values)) == holds
    item = table.get(KEY)
    assert item is not None
    assert ("new" in item) == holds


def test_a_delete_may_ask_a_condition(table: Table) -> None:
    table.write(table.put(KEY, {"run": "a"}))
    assert not table.write(table.delete(KEY, when="#run = :run", values={":run": "b"}))
    assert table.write(table.delete(KEY, when="#run = :run", values={":run": "a"}))
    assert not table.write(table.delete(KEY, when="#run = :run", values={":run": "a"}))
    assert table.write(table.delete(KEY)), "what is gone may be deleted again"


def test_a_transaction_is_all_or_nothing(table: Table) -> None:
    other = {"pk": "P", "sk": "b"}
    table.write(table.put(KEY, {"n": 1}))
    refused = [
        table.put(other, {"n": 2}),
        table.check(KEY, when="#n = :n", values={":n": 5}),
    ]
    assert not table.transact(*refused)
    assert table.get(other) is None
    granted = [
        table.put(other, {"n": 2}),
        table.check(KEY, when="#n = :n", values={":n": 1}),
    ]
    assert table.transact(*granted)
    assert table.get(other) == {**other, "n": 2}
    assert table.transact(table.delete(KEY), table.update(other, set_={"n": 3}))
    assert (table.get(KEY), table.get(other)) == (None, {**other, "n": 3})


def test_a_check_of_an_absent_item_fails_but_for_absence(table: Table) -> None:
    put = table.put({"pk": "P", "sk": "b"}, {})
    assert not table.transact(put, table.check(KEY, when="#n = :n", values={":n": 1}))
    when = "attribute_not_exists(#paused) OR #paused = :no"
    assert table.transact(put, table.check(KEY, when=when, values={":no": False}))


def test_queries_are_in_order_by_prefix_limit_and_start(table: Table) -> None:
    for sk in ("b#2", "a#1", "a#3", "a#2", "ä#1", "c"):
        table.write(table.put({"pk": "P", "sk": sk}, {}))
    table.write(table.put({"pk": "Q", "sk": "a#9"}, {}))

    def keys(**how: Any) -> list[str]:
        return [item["sk"] for item in table.query("P", how.pop("prefix", ""), **how)]

    assert keys() == ["a#1", "a#2", "a#3", "b#2", "c", "ä#1"]
    assert keys(prefix="a#") == ["a#1", "a#2", "a#3"]
    assert keys(prefix="a#", limit=2) == ["a#1", "a#2"]
    assert keys(after="a#2", limit=2) == ["a#3", "b#2"]
    assert keys(after="a#25") == ["a#3", "b#2", "c", "ä#1"], "a start need not be there"
    assert keys(prefix="a#", newest_first=True) == ["a#3", "a#2", "a#1"]


def test_a_query_reads_on_over_pages(table: Table) -> None:
    body = "x" * 200_000
    for number in range(8):  # 1.6 MB: DynamoDB gives 1 MB a page
        table.write(table.put({"pk": "P", "sk": f"{number}"}, {"body": body}))
    assert [item["sk"] for item in table.query("P", "")] == [f"{n}" for n in range(8)]
    assert len(list(table.query("P", "", limit=7))) == 7


def test_the_table_is_what_the_design_says(table_properties: dict[str, Any]) -> None:
    assert [key["AttributeName"] for key in table_properties["KeySchema"]] == ["pk", "sk"]
    assert table_properties["BillingMode"] == "PAY_PER_REQUEST"
    assert table_properties["TimeToLiveSpecification"]["AttributeName"] == "expires_at"
    recovery = table_properties["PointInTimeRecoverySpecification"]
    assert recovery["PointInTimeRecoveryEnabled"]
    assert "GlobalSecondaryIndexes" not in table_properties


class Conflicting:
    """DynamoDB while other transactions hold the items, so many times."""

    def __init__(self, conflicts: int, *reasons: str) -> None:
        self.calls = 0
        self._conflicts = conflicts
        self._reasons = reasons or ("TransactionConflict", "None")

    def transact_write_items(self, **_given: object) -> None:
        self.calls += 1
        if self.calls <= self._conflicts:
            told: Any = {
                "Error": {"Code": "TransactionCanceledException"},
                "CancellationReasons": [{"Code": reason} for reason in self._reasons],
            }
            raise ClientError(told, "TransactWriteItems")


def test_a_transaction_that_meets_another_is_tried_again_and_one_refused_is_not() -> None:
    """The SDK gives up at once; in a burst all that take a lease would but one."""
    meets: Any = Conflicting(CONFLICT_TRIES - 1)
    assert Table(meets, "ledger").transact()
    refused: Any = Conflicting(9, "TransactionConflict", "ConditionalCheckFailed")
    assert not Table(refused, "ledger").transact()
    assert refused.calls == 1


@pytest.mark.parametrize(
    ("reasons", "calls"),
    [
        (("TransactionConflict", "None"), CONFLICT_TRIES),
        (("TransactionConflict", "ValidationError"), 1),
        (("None", "None"), 1),
    ],
)
def test_what_lasts_is_raised(reasons: tuple[str, ...], calls: int) -> None:
    client: Any = Conflicting(9, *reasons)
    with pytest.raises(ClientError):
        Table(client, "ledger").transact()
    assert client.calls == calls
