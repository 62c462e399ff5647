"""The control plane deployed to the embedded AWS once; jobs are stand-ins."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from deployed import Line, Session, WholeLine, app_for

from relay.console.local_stack import settings_for
from relay.local import stack
from relay.local.places import LocalPlaces


@pytest.fixture(scope="session")
def whole_line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeLine]:
    places = LocalPlaces(tmp_path_factory.mktemp("whole"))
    try:
        up = stack.up(places, settings_for(places, "Relay"))
        yield WholeLine(places, dict(up.outputs), Session(dict(up.environment)))
    finally:
        stack.down(places)


@pytest.fixture(scope="session")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    places = LocalPlaces(tmp_path_factory.mktemp("line"))
    try:
        up = stack.up(places, stack.Settings(app=app_for(places), ray_cpus=None))
        yield Line(places, dict(up.outputs), Session(dict(up.environment)))
    finally:
        stack.down(places)
