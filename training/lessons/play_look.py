"""How well the policy plays before and after a lesson, for the operator's eyes only."""

from __future__ import annotations

from typing import ClassVar

from training.lessons.games import Games
from training.lessons.lesson import Classroom
from training.rollouts.statistics import statistics


class PlayLook:
    """The same few games, played again after every lesson; none where there is no environment."""

    EPISODES: ClassVar[int] = 512

    def __init__(self, room: Classroom) -> None:
        pipeline = room.assignment.plan.pipeline
        self._room = room
        self._games = Games(room) if pipeline.environment else None
        self._count = min(self.EPISODES, pipeline.evaluation.episodes)

    @property
    def plays(self) -> bool:
        """Whether there is anything to play."""
        return self._games is not None

    def at(self, when: str) -> dict[str, float]:
        """Share of successes and mean reward, sampled at temperature 1, and in how many games.

        Args:
            when: `before` or `after`, which the figures' names end in.
        """
        if self._games is None:
            return {}
        with self._room.watch.stage("looking at play"):
            figures = self._room.party.from_first(self._play)
        wanted = {"success_rate": "success", "mean_reward": "reward"}
        return {"look_games": float(self._count)} | {
            f"{name}_{when}": figures[figure]
            for figure, name in wanted.items()
            if figure in figures
        }

    def _play(self) -> dict[str, float]:
        assert self._games is not None
        return statistics(self._games.play_all("optimize-look", self._count))
