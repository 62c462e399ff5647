"""The registry of phases."""

from __future__ import annotations

import inspect

import pytest

from training.phases.registry import PHASES, Steps


@pytest.mark.parametrize("steps", PHASES.values(), ids=PHASES)
def test_a_phases_work_is_a_generator_function_as_rays_streams_take_no_other(steps: Steps) -> None:
    assert inspect.isgeneratorfunction(steps.work)
