"""Two policies against one another in games on seeds that nobody has trained on.

Both play the same seeds, so what differs between them is what they do. The seeds come from the
run's id and a purpose of their own: neither drops nor rollouts contain them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.counting import counted
from contracts.pipeline import Environment
from training.assignment import Assignment
from training.environments.loading import MakeEnvironment, load
from training.events import Advance, Done, Event, Materials
from training.phases.game_verdict import compare, lost_tasks
from training.rollouts.seeds import EpisodePlan, episode_seed, plan_episodes
from training.stopwatch import Stopwatch

if TYPE_CHECKING:
    from training.models.protocols import CausalModel, Tokenizer
    from training.rollouts.episode import Episode

GREEDY_TASKS_MAX = 1024
"""Tasks that are also played greedily, one game each; of more, the first."""
_SAY_EVERY = 32


@dataclass(frozen=True)
class _Table:
    """Where games are played."""

    assignment: Assignment
    environment: Environment
    make: MakeEnvironment
    device: str


def work(assignment: Assignment, environment: Environment, materials: Materials) -> Iterator[Event]:
    """Play with both policies; the figures are the result."""
    from training.models.runtime import prepare_runtime

    watch = Stopwatch()
    yield Advance("Loading the policies")
    with watch.stage("imports"):
        device = prepare_runtime(assignment)
    table = _Table(assignment, environment, load(environment), device)
    sampled, greedy = _plans(table)
    with watch.stage("playing the parent"):
        before = yield from _play(table, materials["parent"], "the start policy", {1.0: sampled})
    with watch.stage("playing the candidate"):
        wanted = {1.0: sampled, 0.0: greedy}
        after = yield from _play(table, materials["candidate"], "the candidate", wanted)
    metric = assignment.plan.pipeline.gate.metric
    yield Done(
        metrics=compare(before[1.0], after[1.0], after[0.0], metric=metric),
        notes=_notes(after[1.0]),
        seconds=watch.seconds,
    )


def _plans(table: _Table) -> tuple[list[EpisodePlan], list[EpisodePlan]]:
    """Games to sample, evenly over the tasks, and one greedy game a task."""
    spec, pipeline = table.assignment.spec, table.assignment.plan.pipeline
    made = table.make()
    tasks = made.tasks()
    made.close()
    sampled = plan_episodes(
        spec.run,
        spec.round,
        "evaluate",
        count=pipeline.evaluation.episodes,
        tasks=tasks,
        seed=table.assignment.seed,
    )
    greedy = [
        EpisodePlan(task, episode_seed(spec.run, spec.round, "evaluate-greedy", task), task)
        for task in range(min(tasks, GREEDY_TASKS_MAX))
    ]
    return sampled, greedy


def _play(
    table: _Table, policy: Path, who: str, wanted: dict[float, list[EpisodePlan]]
) -> Generator[Event, None, dict[float, list[Episode]]]:
    from training.models.folders import load_model, load_tokenizer

    model, tokenizer = load_model(policy, device=table.device), load_tokenizer(policy)
    played = {}
    for temperature, plans in wanted.items():
        how = "" if temperature else ", greedily"
        stage = f"Playing with {who}{how}"
        yield Advance(stage, 0, len(plans))
        played[temperature] = yield from _games(table, model, tokenizer, plans, temperature, stage)
    return played


def _games(
    table: _Table,
    model: CausalModel,
    tokenizer: Tokenizer,
    plans: Sequence[EpisodePlan],
    temperature: float,
    stage: str,
) -> Generator[Event, None, list[Episode]]:
    from training.rollouts.playing import play

    games = []
    for game in play(
        model,
        tokenizer,
        table.make,
        plans,
        temperature=temperature,
        max_turns=table.environment.max_turns,
        max_new_tokens=table.environment.max_new_tokens,
        context=table.assignment.plan.pipeline.model.context,
        step_limit_s=table.environment.step_limit_s,
    ):
        games.append(game)
        if len(games) % _SAY_EVERY == 0:
            yield Advance(stage, len(games), len(plans))
    return sorted(games, key=lambda game: game.index)


def _notes(games: Sequence[Episode]) -> tuple[str, ...]:
    notes = []
    failed = [game for game in games if game.failed]
    if failed:
        notes.append(
            f"the environment failed in {len(failed)} of {counted(len(games), 'game')}, which "
            f"count as lost; the first: {failed[0].failed}"
        )
    lost = lost_tasks(games)
    if lost:
        few = ", ".join(str(task) for task in lost[:20]) + (" and more" if len(lost) > 20 else "")  # noqa: PLR2004
        notes.append(f"{counted(len(lost), 'task was', 'tasks were')} never solved: {few}")
    return tuple(notes)
