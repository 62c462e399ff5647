"""Pipelines for tests."""

from __future__ import annotations

from contracts.pipeline import Patience, Pipeline, Round
from contracts.steps import Dpo


def pipeline(name: str, *, rounds: int = 1, attempts: int = 3, **patience: int) -> Pipeline:
    """A small recipe."""
    return Pipeline(
        name=name,
        rounds=(Round(optimize=Dpo(algorithm="dpo")),) * rounds,
        attempts=attempts,
        patience=Patience(**patience),
    )
