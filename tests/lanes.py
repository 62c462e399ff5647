"""Which tests run one after another when `make test` runs several side by side, and what begins.

What starts an embedded AWS or a Ray mostly waits, so two of them share a small machine well, and
so do one and the reckoning of all other tests. The longest begin first. A file stays together, for
the fixtures that it shares; so do the folders, and the tests of a deployed line, whose fixtures
hold for a session.
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
WAITING = ("line", "emulator", "ray")
LINES = ("whole_line", "line")
WHOLE = ("cdk", "lambdas")
FIRST = ("relay/test_line_demo.py", "line", "whole_line")


def lane(item: pytest.Item) -> str:
    """Name of the tests that this one takes turns with."""
    place = item.path.relative_to(TESTS)
    folder = place.parts[0]
    shared = [it for it in LINES if folder == "line" and it in getattr(item, "fixturenames", ())]
    if shared:
        return shared[0]
    return folder if folder in WHOLE else str(place)


def turn(item: pytest.Item) -> int:
    """The lower, the sooner its lane begins."""
    if (name := lane(item)) in FIRST:
        return FIRST.index(name)
    waits = any(item.get_closest_marker(marker) for marker in WAITING)
    return len(FIRST) + (0 if waits else 1)
