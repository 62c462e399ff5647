"""Learning from games of its own by PPO: iterations of playing and updating."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.counting import counted
from contracts.errors import JobFailed
from contracts.steps import Ppo
from training.algorithms.descent import make_optimizer
from training.algorithms.experience import Experience, Observer
from training.algorithms.ppo import explained_variance
from training.algorithms.ppo_learner import PpoLearner
from training.events import Event
from training.lessons.games import Games
from training.lessons.lesson import Beginning, Classroom, Lesson
from training.models.folders import load_model
from training.models.value_head import load_value_head, make_value_head, save_value_head

if TYPE_CHECKING:
    from torch.nn import Parameter

    from training.rollouts.episode import Episode

_BETAS = (0.9, 0.98)
"""A short memory of the gradient's size, which changes as the policy does."""
_STOP_OVER = 5
"""Iterations whose mean success ends the lesson early; fewer would mistake luck for skill."""
_RECENT = "recent_success"


class PpoLesson(Lesson):
    """Games, played and learnt from at once."""

    def __init__(self, room: Classroom, beginning: Beginning, recipe: Ppo) -> None:
        super().__init__(room, beginning)
        self.recipe = recipe
        self.size = recipe.iterations
        self.checkpoint_every = recipe.checkpoint_every
        self._value_head = make_value_head(room.model, device=room.device)
        self._recent: list[float] = []

    @property
    def finished(self) -> bool:
        """Whether all iterations are over, or the last few were good enough."""
        recent = self._recent[-_STOP_OVER:]
        good = len(recent) == _STOP_OVER and sum(recent) / _STOP_OVER >= self.recipe.stop_at_success
        return good or self.done >= self.size

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The policy's and the critic's."""
        head = {f"value_head.{name}": one for name, one in self._value_head.named_parameters()}
        return {**super().parameters, **head}

    def prepare(self, *, fresh: bool) -> Iterator[Event]:
        """Load the environment, and the reference if the policy is to stay near to one.

        Raises:
            PipelineInvalid: the environment cannot be loaded.
        """
        del fresh
        yield from ()
        room, recipe = self.room, self.recipe
        self._games = Games(room)
        reference = None
        if recipe.kl_weight:
            with room.watch.stage("reference"):
                reference = load_model(self.beginning.folder, device=room.device)
        self._observer = Observer(
            room.model, self._value_head, reference, recipe, room.pad, room.device
        )
        self.optimizer = make_optimizer(self.parameters.values(), betas=_BETAS)
        self._learner = PpoLearner(
            room.model, self._value_head, self.optimizer, recipe, room.pad, room.device
        )

    def advance(self) -> Iterator[None]:
        """Play one iteration's episodes, and learn from them.

        Raises:
            JobFailed: every episode failed, or something is not finite.
        """
        watch, recipe = self.room.watch, self.recipe
        with watch.stage("playing"):
            played = yield from self._games.play(
                f"optimize-{self.beginning.number}",
                recipe.episodes,
                first=self.done * recipe.episodes,
                group_size=recipe.group_size,
            )
        if played is None:
            return
        sound = _sound(played)
        with watch.stage("looking back"):
            experience = self._observer.look(sound)
        yield
        with watch.stage("training"):
            learnt = self._learner.update(self.done, experience, seed=self.seed)
        self.done += 1
        self.figures = _of_play(played, sound) | _of_experience(experience, recipe) | learnt
        self._recent = [*self._recent, self.figures["success"]][-_STOP_OVER:]

    def save(self, folder: Path) -> dict[str, list[float]]:
        """Write the critic; remember the last successes."""
        save_value_head(folder, self._value_head)
        return {_RECENT: self._recent}

    def restore(self, folder: Path, memory: Mapping[str, list[float]]) -> None:
        """Take back what `save` wrote and returned."""
        load_value_head(folder, self._value_head)
        self._recent = list(memory.get(_RECENT, []))


def _sound(played: Sequence[Episode]) -> list[Episode]:
    """Episodes that can be learnt from.

    Raises:
        JobFailed: there are none.
    """
    sound = [one for one in played if not one.failed and any(one.actions)]
    if not sound:
        ((reason, times),) = Counter(one.failed for one in played).most_common(1)
        raise JobFailed(
            f"all of {counted(len(played), 'episode')} of an iteration failed, "
            f"{times}x by: {reason}"
        )
    return sound


def _of_play(played: Sequence[Episode], sound: Sequence[Episode]) -> dict[str, float]:
    turns = sum(one.turns for one in sound)
    return {
        "reward": sum(one.reward for one in sound) / len(sound),
        "success": sum(one.success for one in sound) / len(sound),
        "turns": turns / len(sound),
        "format_errors": sum(one.format_errors for one in sound) / max(1, turns),
        "truncated": sum(one.truncated for one in sound) / len(sound),
        "failed": float(len(played) - len(sound)),
        "tokens": float(sum(sum(one.actions) for one in sound)),
    }


def _of_experience(experience: Experience, recipe: Ppo) -> dict[str, float]:
    actions = experience.actions
    figures = {
        "explained_variance": explained_variance(
            experience.values[actions], experience.returns[actions]
        ),
        "sampler_gap": experience.sampler_gap,
    }
    if recipe.kl_weight:
        figures["reference_kl"] = experience.reference_kl
    return figures
