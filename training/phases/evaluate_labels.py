"""Two policies against one another on good and bad episodes that neither trained on."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.counting import counted
from contracts.errors import ContractBroken
from training.assignment import Assignment
from training.events import Advance, Done, Event, Materials
from training.phases.label_verdict import compare_labelled
from training.phases.measuring import Metric
from training.stopwatch import Stopwatch

if TYPE_CHECKING:
    from training.algorithms.logprobs import RowScores
    from training.episodes.encoding import Row
    from training.lessons.labelled import LabelledRows


def work(assignment: Assignment, materials: Materials, metric: Metric) -> Iterator[Event]:
    """Score the held-out episodes with both policies; the figures are the result."""
    from training.models.folders import load_tokenizer, pad_of
    from training.models.runtime import prepare_runtime

    if metric == "accuracy":
        raise ContractBroken("accuracy is judged on pairs, not on labels")
    watch = Stopwatch()
    yield Advance("Loading the policies")
    with watch.stage("imports"):
        device = prepare_runtime(assignment)
        import torch
    with watch.stage("data"):
        tokenizer = load_tokenizer(materials["candidate"])
        made = _held_out(assignment, materials)
    scores = {}
    for name in ("parent", "candidate"):
        with watch.stage(f"scoring the {name}"):
            yield Advance(f"Scoring {counted(len(made.rows), 'held-out episode')} with the {name}")
            scores[name] = yield from _score(materials[name], made.rows, pad_of(tokenizer), device)
    figures = compare_labelled(
        scores["parent"], scores["candidate"], torch.tensor(made.good), made.tasks, metric
    )
    yield Done(metrics=figures | _cut(made), notes=_notes(assignment, made), seconds=watch.seconds)


def _held_out(assignment: Assignment, materials: Materials) -> LabelledRows:
    from training.episodes.artifact import HELD_OUT, labelled_in
    from training.lessons.labelled import encode_labelled
    from training.models.folders import load_tokenizer

    return encode_labelled(
        labelled_in(materials["episodes"], HELD_OUT),
        load_tokenizer(materials["candidate"]),
        context=assignment.plan.pipeline.model.context,
        folder=assignment.folder,
    )


def _score(
    folder: Path, rows: Sequence[Row], pad: int, device: str
) -> Generator[Event, None, RowScores]:
    from training.algorithms.logprobs import score_rows
    from training.models.folders import load_model

    groups = score_rows(load_model(folder, device=device), rows, pad=pad, device=device)
    made = next(groups)
    for made in groups:  # noqa: B007 - each is the same result, grown
        yield Advance(f"Scoring {counted(len(rows), 'held-out episode')}")
    return made


def _cut(made: LabelledRows) -> dict[str, float]:
    from training.episodes.cut_report import cut_figures

    return cut_figures(made.loss)


def _notes(assignment: Assignment, made: LabelledRows) -> tuple[str, ...]:
    from training.episodes.cut_report import cut_words

    context = assignment.plan.pipeline.model.context
    return cut_words(made.loss, "held-out episodes", context=context)
