"""Games that a training plays by itself: which, and with signs of life."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from contracts.errors import ContractBroken
from contracts.pipeline import Environment
from training.environments.loading import load
from training.lessons.lesson import Classroom
from training.rollouts.seeds import EpisodePlan, plan_episodes

if TYPE_CHECKING:
    from training.rollouts.episode import Episode

_SIGN_EVERY_S = 2.0


class Games:
    """The pipeline's environment, to be played with the policy as it is."""

    def __init__(self, room: Classroom) -> None:
        """Load the environment.

        Raises:
            ContractBroken: the pipeline has none.
            PipelineInvalid: it cannot be loaded.
        """
        spec = room.assignment.plan.pipeline.environment
        if spec is None:
            raise ContractBroken("the pipeline has no environment to play in")
        self._room = room
        self._spec: Environment = spec
        self._make = load(spec)
        environment = self._make()
        self._tasks = environment.tasks()
        environment.close()

    def play(
        self, purpose: str, count: int, *, first: int = 0, group_size: int = 1
    ) -> Generator[None, None, list[Episode] | None]:
        """Play the next episodes of a purpose at temperature 1; see `plan_episodes`.

        Args:
            purpose: the stream of seeds.
            count: episodes, a multiple of `group_size`.
            first: episodes of the purpose that were played before.
            group_size: episodes of one task, side by side.

        Returns:
            The episodes by index; None when a stop was asked for before all were played.
        """
        played: list[Episode] = []
        spoken_at = time.monotonic()
        for episode in self._episodes(self._plans(purpose, count, first, group_size)):
            played.append(episode)
            if time.monotonic() - spoken_at > _SIGN_EVERY_S:
                spoken_at = time.monotonic()
                yield
                if self._room.asked_to_stop():
                    return None
        return sorted(played, key=lambda one: one.index)

    def play_all(self, purpose: str, count: int) -> Iterator[Episode]:
        """Play that many episodes to the end, in the order in which they end."""
        return self._episodes(self._plans(purpose, count))

    def _episodes(self, plans: Sequence[EpisodePlan]) -> Iterator[Episode]:
        from training.rollouts.playing import play

        room = self._room
        return play(
            room.model,
            room.tokenizer,
            self._make,
            plans,
            temperature=1.0,
            max_turns=self._spec.max_turns,
            max_new_tokens=self._spec.max_new_tokens,
            context=room.context,
            generator_seed=room.assignment.seed,
            step_limit_s=self._spec.step_limit_s,
        )

    def _plans(
        self, purpose: str, count: int, first: int = 0, group_size: int = 1
    ) -> Sequence[EpisodePlan]:
        spec = self._room.assignment.spec
        return plan_episodes(
            spec.run,
            spec.round,
            purpose,
            count=count,
            tasks=self._tasks,
            seed=self._room.assignment.seed,
            first=first,
            group_size=group_size,
        )
