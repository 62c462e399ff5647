"""The tree of errors is what its drawing says."""

from __future__ import annotations

import re

import pytest

from contracts import errors
from contracts.errors import (
    FencedError,
    PermanentError,
    RelayError,
    TransientError,
    names_below,
)

_ROW = re.compile(r"^(?P<bars>[│├└─ ]*)(?P<name>[A-Z]\w+)(?: +(?P<says>.+))?$")
_STEP = 4


def drawn() -> dict[str, tuple[str, str]]:
    """Of every class in the drawing: its parent and what is said of it."""
    assert errors.__doc__ is not None
    path: list[str] = []
    rows: dict[str, tuple[str, str]] = {}
    for line in errors.__doc__.splitlines():
        row = _ROW.match(line)
        if row is None or "." in line.partition(" ")[0]:
            continue
        if not path and row["name"] != "RelayError":
            continue
        depth = len(row["bars"]) // _STEP
        path[depth:] = [row["name"]]
        rows[row["name"]] = (path[depth - 1] if depth else "RelayError", row["says"] or "")
    return rows


def classes() -> dict[str, type[RelayError]]:
    return {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, RelayError)
    }


def test_the_drawing_lists_exactly_the_classes() -> None:
    assert set(drawn()) == set(classes())


@pytest.mark.parametrize("name", sorted(classes()))
def test_a_class_hangs_where_it_is_drawn(name: str) -> None:
    parent, says = drawn()[name]
    found = classes()[name]
    if found is not RelayError:
        assert found.__base__ is not None
        assert found.__base__.__name__ == parent
    assert found.__doc__, name
    if says:
        assert found.__doc__.rstrip(".").lower() == says.lower()


def test_names_below_are_the_leaves_sorted() -> None:
    assert names_below(FencedError) == ("AttemptFenced",)
    assert names_below(TransientError) == (
        "DeadlineExceeded",
        "JobCrashed",
        "JobNotStarted",
        "PreviousJobStillRunning",
        "ServiceUnavailable",
    )
    families = [names_below(it) for it in (PermanentError, TransientError, FencedError)]
    assert sorted(sum(families, ())) == list(names_below(RelayError))
    assert not {"RelayError", "PermanentError"} & set(names_below(RelayError))


def test_a_leaf_has_nothing_below() -> None:
    assert names_below(errors.JobCrashed) == ()
