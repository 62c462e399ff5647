"""Players side by side, as Ray actors; what one leaves undone when it dies, another plays."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from contracts.errors import JobCrashed
from training.rollouts.episode import Episode
from training.rollouts.player import Order, Player
from training.rollouts.seeds import EpisodePlan

LOSSES_MAX = 3
"""Players that may die over the same part before the part is held to be what kills them."""
_TICK_S = 0.25


class Part(NamedTuple):
    """A fixed set of episodes, always played together, whoever plays it."""

    number: int
    plans: tuple[EpisodePlan, ...]


@dataclass(frozen=True)
class Played:
    """A part that is done, each of its episodes once."""

    part: Part
    episodes: list[Episode]


@dataclass(frozen=True)
class Lost:
    """A part whose player died; it is played again."""

    part: Part
    reason: str


def parts_of(plans: Sequence[EpisodePlan], size: int) -> list[Part]:
    """Cut plans into parts, the last one possibly shorter."""
    return [
        Part(number, tuple(plans[first : first + size]))
        for number, first in enumerate(range(0, len(plans), size))
    ]


def play_parts(
    order: Order, parts: Sequence[Part], *, players: int
) -> Iterator[Played | Lost | None]:
    """Play every part once, on this process's Ray, or in this process where there is none.

    Args:
        order: what all players are told.
        parts: what to play.
        players: how many, side by side; never more than there are parts.

    Yields:
        What happened, and None whenever nothing did for a moment.

    Raises:
        JobCrashed: `LOSSES_MAX` players died over one part.
        RelayError: what a player raised.
    """
    import ray

    if not ray.is_initialized():
        player = Player(order)
        for part in parts:
            yield Played(part, player.play(part.plans))
        return
    troupe = _Troupe(order, deque(parts))
    try:
        troupe.begin(min(players, len(parts)))
        yield from troupe.listen()
    finally:
        troupe.dismiss()


class _Troupe:
    """Actors, and the part that each is at."""

    def __init__(self, order: Order, waiting: deque[Part]) -> None:
        self._order = order
        self._waiting = waiting
        self._actors: list[Any] = []
        self._at: dict[Any, tuple[Any, Part]] = {}
        self._losses: Counter[int] = Counter()

    def begin(self, players: int) -> None:
        for _ in range(players):
            self._give(self._hire())

    def listen(self) -> Iterator[Played | Lost | None]:
        import ray
        from ray.exceptions import RayActorError, RayTaskError

        while self._at:
            ready, _ = ray.wait(list(self._at), timeout=_TICK_S)
            if not ready:
                yield None
            for answer in ready:
                actor, part = self._at.pop(answer)
                try:
                    episodes: list[Episode] = ray.get(answer)
                except RayTaskError as error:
                    raise error.cause from error
                except RayActorError as error:
                    yield self._lose(actor, part, error)
                    continue
                self._give(actor)
                yield Played(part, episodes)

    def dismiss(self) -> None:
        import ray

        for actor in self._actors:
            ray.kill(actor)

    def _lose(self, actor: Any, part: Part, error: Exception) -> Lost:  # noqa: ANN401
        self._actors.remove(actor)
        self._losses[part.number] += 1
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        if self._losses[part.number] >= LOSSES_MAX:
            first, last = part.plans[0].index, part.plans[-1].index
            raise JobCrashed(
                f"{LOSSES_MAX} players died over episodes {first} to {last}: {reason}; look for "
                "memory that runs out, or an environment that ends its process"
            ) from error
        self._waiting.appendleft(part)
        self._give(self._hire())
        return Lost(part, reason)

    def _give(self, actor: Any) -> None:  # noqa: ANN401
        import ray

        if self._waiting:
            part = self._waiting.popleft()
            self._at[actor.play.remote(part.plans)] = actor, part
        else:
            self._actors.remove(actor)
            ray.kill(actor)

    def _hire(self) -> Any:  # noqa: ANN401
        """A player on this node: what the work was given here holds for its players too."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        node = ray.get_runtime_context().get_node_id()
        actor = (
            ray.remote(Player)
            .options(
                num_cpus=0,
                max_restarts=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
                runtime_env=_same_devices() if self._order.device == "cuda" else None,
            )
            .remote(self._order)
        )
        self._actors.append(actor)
        return actor


def _same_devices() -> dict[str, dict[str, str]]:
    """Ray hides all GPUs from an actor that asks for none; this one shows those of its work."""
    names = ("CUDA_VISIBLE_DEVICES",)
    return {"env_vars": {name: os.environ[name] for name in names if name in os.environ}}
