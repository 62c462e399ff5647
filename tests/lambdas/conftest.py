"""What the tests of the control plane share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

# Powertools reads these when it is imported, which the tests' modules do.
os.environ["POWERTOOLS_LOG_LEVEL"] = "CRITICAL"
os.environ["POWERTOOLS_SERVICE_NAME"] = "relay"
os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

from fakes.recipes import pipeline
from fakes.world import World, using


@pytest.fixture
def world() -> Iterator[World]:
    """An in-memory control plane with the pipeline `tone`, and handlers that work on it."""
    made = World()
    made.register(pipeline("tone"))
    with using(made.plane) as made.counted:
        yield made
