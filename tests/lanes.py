"""Which tests run one after another when `make test` runs several side by side.

What starts an embedded AWS or a Ray mostly waits, so two of them and the reckoning of all other
tests share a small machine well; the long ones begin first. A file stays together, for the
fixtures that it shares, and so do the folders whose fixtures hold for a session.
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
WAITING = ("line", "emulator", "ray")
DEPLOYED = ("line", "local")
WHOLE = ("cdk", "lambdas")


def is_long(item: pytest.Item) -> bool:
    """Whether the test waits for an embedded AWS or a Ray."""
    return any(item.get_closest_marker(marker) for marker in WAITING)


def lane(item: pytest.Item) -> str:
    """Name of the tests that this one takes turns with."""
    place = item.path.relative_to(TESTS)
    folder = place.parts[0]
    if is_long(item):
        return "deployed" if folder in DEPLOYED else "jobs"
    return folder if folder in WHOLE else str(place)
