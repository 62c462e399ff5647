"""Which tests run one after another when `make test` runs several side by side, and what begins.

What starts an embedded AWS or a Ray mostly waits, so two of them share a small machine well, and
so do one and the reckoning of all other tests. The longest begin first. A file stays together, for
the fixtures that it shares; so do files whose fixtures hold for a session.
"""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadScopeScheduling

TOGETHER = (
    ("tests/line/test_kills", "whole line"),
    ("tests/line/test_kuberay", "line on a cluster"),
    ("tests/line/", "line"),
    ("tests/cdk/", "cdk"),
    ("tests/lambdas/", "lambdas"),
)
"""Beginnings of addresses, and their lanes; the first that fits."""
FIRST = ("tests/relay/test_line_demo.py", "line", "whole line")
WAITING = ("line", "emulator", "ray")


def lane(nodeid: str) -> str:
    """Name of the tests that this one takes turns with."""
    fits = (name for beginning, name in TOGETHER if nodeid.startswith(beginning))
    return next(fits, nodeid.partition("::")[0])


def turn(item: pytest.Item) -> int:
    """The lower, the sooner its lane begins."""
    if (name := lane(item.nodeid)) in FIRST:
        return FIRST.index(name)
    waits = any(item.get_closest_marker(marker) for marker in WAITING)
    return len(FIRST) + (0 if waits else 1)


class Lanes(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a worker one lane after the other, in the order of the first test of each."""

    def _split_scope(self, nodeid: str) -> str:
        return lane(nodeid)
