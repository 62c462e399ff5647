"""Environments by import path, from an allow-list: a pipeline may not run any code it names."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any, cast

from contracts.errors import PipelineInvalid
from contracts.pipeline import Environment
from training.environments.interface import TextEnvironment

SHIPPED = "training.environments"
ALLOWED = "RELAY_ENVIRONMENTS"
"""Environment variable: further modules or packages, separated by commas."""
_METHODS = ("tasks", "reset", "step", "close")

MakeEnvironment = Callable[[], TextEnvironment]


def load(spec: Environment) -> MakeEnvironment:
    """Find a pipeline's environment and make sure that it can be made.

    Args:
        spec: its import path and settings.

    Returns:
        What makes an instance of it.

    Raises:
        PipelineInvalid: names the field and the reason: a module that is not allowed or cannot
            be imported, no such class, settings that it does not take, a method it lacks.
    """
    module, _, name = spec.path.partition(":")
    _require_allowed(module)
    made_by = _find(module, name, spec.path)
    settings = dict(spec.settings)

    def make() -> TextEnvironment:
        return cast(TextEnvironment, made_by(**settings))

    _try_out(make, spec)
    return make


def _require_allowed(module: str) -> None:
    further = os.environ.get(ALLOWED, "").split(",")
    prefixes = [SHIPPED, *(name.strip() for name in further if name.strip())]
    if not any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes):
        raise PipelineInvalid(
            f"environment.path: {module} is not allowed, only what lies in "
            f"{', '.join(prefixes)}; an operator may add it to {ALLOWED}"
        )


def _find(module: str, name: str, path: str) -> Callable[..., Any]:
    try:
        found = getattr(importlib.import_module(module), name, None)
    except Exception as error:  # Importing runs another's code, which may raise anything.
        raise PipelineInvalid(
            f"environment.path: {module} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(found, type):
        raise PipelineInvalid(f"environment.path: {path} is no class of {module}")
    return found


def _try_out(make: MakeEnvironment, spec: Environment) -> None:
    try:
        made = make()
    except Exception as error:  # Another's code again.
        raise PipelineInvalid(
            f"environment.settings: {spec.path} does not take {spec.settings}: {error}"
        ) from error
    lacking = [name for name in _METHODS if not callable(getattr(made, name, None))]
    lacking += [name for name in ("system", "max_turns") if not hasattr(made, name)]
    if lacking:
        raise PipelineInvalid(f"environment.path: {spec.path} lacks {', '.join(lacking)}")
    if made.tasks() < 1 or made.max_turns < 1:
        raise PipelineInvalid(f"environment.path: {spec.path} has no task or no turn")
    made.close()
