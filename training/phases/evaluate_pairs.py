"""Two policies against one another on pairs that neither trained on."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.counting import counted
from training.assignment import Assignment
from training.events import Advance, Done, Event, Materials
from training.phases.verdict import compare
from training.stopwatch import Stopwatch
from trajectories.splitting import task_of

if TYPE_CHECKING:
    from training.algorithms.logprobs import Scores
    from training.episodes.encoding import EncodedPair


def work(assignment: Assignment, materials: Materials) -> Iterator[Event]:
    """Score the held-out pairs with both policies; the figures are the result."""
    from training.models.runtime import prepare_runtime

    watch = Stopwatch()
    yield Advance("Loading the policies")
    with watch.stage("imports"):
        device = prepare_runtime(assignment)
    with watch.stage("data"):
        pairs, tasks, cut, pad = _held_out(assignment, materials)
    scores = {}
    for name in ("parent", "candidate"):
        with watch.stage(f"scoring the {name}"):
            yield Advance(f"Scoring {counted(len(pairs), 'held-out pair')} with the {name}")
            scores[name] = yield from _score(materials[name], pairs, pad, device)
    metrics = compare(scores["parent"], scores["candidate"], tasks)
    yield Done(metrics=metrics | cut, seconds=watch.seconds)


def _held_out(
    assignment: Assignment, materials: Materials
) -> tuple[Sequence[EncodedPair], list[str], dict[str, float], int]:
    """The pairs, the task of each, how much of them was cut, and what to pad with."""
    from training.episodes.artifact import HELD_OUT, pairs_in
    from training.episodes.cut_report import cut_figures
    from training.episodes.encoding import each_pair
    from training.episodes.fitting import Loss
    from training.episodes.shelf import shelf_of_pairs
    from training.models.folders import load_tokenizer, pad_of

    tokenizer = load_tokenizer(materials["candidate"])
    episodes, context = materials["episodes"], assignment.plan.pipeline.model.context
    pairs, cut = shelf_of_pairs(assignment.folder), Loss()
    for pair, loss in each_pair(pairs_in(episodes, HELD_OUT), tokenizer, context=context):
        pairs.add(pair)
        cut += loss
    tasks = [task_of(one) for one in pairs_in(episodes, HELD_OUT)]
    return pairs, tasks, cut_figures(cut), pad_of(tokenizer)


def _score(
    folder: Path, pairs: Sequence[EncodedPair], pad: int, device: str
) -> Generator[Event, None, Scores]:
    from training.algorithms.logprobs import score_groups
    from training.models.folders import load_model

    model = load_model(folder, device=device)
    groups = score_groups(model, pairs, pad=pad, device=device)
    made = next(groups)
    for made in groups:  # noqa: B007 - each is the same result, grown
        yield Advance(f"Scoring {counted(len(pairs), 'held-out pair')}")
    return made
