"""What all tests share: the folder `tests` is importable (`fakes.…`), and hypothesis' profiles."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from lanes import Lanes, turn

settings.register_profile(
    "quick",
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("long", settings.get_profile("quick"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# After pytest-randomly, which wraps this.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Lanes:
    return Lanes(config, log)
