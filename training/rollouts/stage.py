"""Environments while they are played with: made, begun and stepped behind a guard."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from contracts.errors import JobFailed
from training.environments.guarded import Failure, Guard
from training.environments.interface import Step, TextEnvironment
from training.environments.loading import MakeEnvironment
from training.rollouts.seeds import EpisodePlan

logger = logging.getLogger(__name__)

Opened = tuple[TextEnvironment, str, int]
"""An environment that has begun, its first words, and its task."""


class Stage:
    """Keeps environments that are free for the next episode."""

    def __init__(self, make: MakeEnvironment, limit_s: float) -> None:
        self._make = make
        self._guard = Guard(limit_s)
        self._free: list[TextEnvironment] = []

    def open(self, plans: Sequence[EpisodePlan]) -> list[Opened | Failure]:
        """Begin an episode each."""
        free = [self._free.pop() if self._free else None for _ in plans]
        return self._guard.each(
            [partial(self._open, one, plan) for one, plan in zip(free, plans, strict=True)]
        )

    def step(
        self, turns: Sequence[tuple[TextEnvironment, str]], names: Sequence[str]
    ) -> list[Step | Failure]:
        """Give each environment its policy's text.

        Args:
            turns: environments and texts.
            names: of the episodes and turns, for errors.

        Raises:
            JobFailed: a reward is not finite, which no training should go on with.
        """
        steps = self._guard.each([partial(_step, one, text) for one, text in turns])
        for step, name, (environment, _) in zip(steps, names, turns, strict=True):
            if isinstance(step, Step) and not math.isfinite(step.reward):
                raise JobFailed(
                    f"{type(environment).__name__} gave a reward of {step.reward} at {name}; "
                    "mend the environment"
                )
        return steps

    def release(self, environment: TextEnvironment) -> None:
        """Take an environment back whose episode is over."""
        self._free.append(environment)

    def close(self) -> None:
        """Close those that are free."""
        for outcome in self._guard.each([one.close for one in self._free]):
            if isinstance(outcome, Failure):
                logger.warning("an environment did not close: %s", outcome.reason)
        self._free = []

    def _open(self, free: TextEnvironment | None, plan: EpisodePlan) -> Opened:
        environment = free if free is not None else self._make()
        with _closed_if_it_fails(environment):
            observation, info = environment.reset(seed=plan.seed, task=plan.task)
            if not isinstance(observation, str):
                raise TypeError(f"reset gave {type(observation).__name__}, not a text")
            return environment, observation, int(info.get("task", plan.task or 0))


def _step(environment: TextEnvironment, text: str) -> Step:
    with _closed_if_it_fails(environment):
        step = environment.step(text)
        if not isinstance(step, Step) or not isinstance(step.observation, str):
            raise TypeError(f"step gave {type(step).__name__}, not a Step with a text")
        float(step.reward)
        return step


@contextmanager
def _closed_if_it_fails(environment: TextEnvironment) -> Iterator[None]:
    """One that failed is not played with again, and may hold a process or a page of a browser."""
    try:
        yield
    except Exception:
        try:
            environment.close()
        except Exception as error:  # Another's code; why it failed before is what counts.
            logger.warning("an environment that failed did not close: %r", error)
        raise
