"""Log-probabilities of what is learnt, with logits made for those positions only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from training.algorithms.dpo import AnswerLogProbs
from training.episodes.batching import Batch, groups_by_length, make_batch, make_rows
from training.episodes.encoding import EncodedPair, Row
from training.models.protocols import CausalModel

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


class Scores(NamedTuple):
    """What a policy gives P pairs, on the CPU.

    Attributes:
        sums: log-probabilities summed over each answer's tokens.
        means: the same divided by the number of those tokens.
    """

    sums: AnswerLogProbs
    means: AnswerLogProbs


class RowScores(NamedTuple):
    """What a policy gives P rows, on the CPU.

    Attributes:
        sums: log-probabilities summed over each row's tokens to learn.
        means: the same divided by the number of those tokens.
    """

    sums: Tensor
    means: Tensor


class Predictions(NamedTuple):
    """What a model says before each of N targets.

    Attributes:
        logits: [N, V] in float32.
        hidden: [N, H] states that the head makes logits of.
    """

    logits: Tensor
    hidden: Tensor


@contextmanager
def _only_at(model: CausalModel, places: Tensor) -> Iterator[list[Tensor]]:
    """Let the head see the hidden states of these positions only, whatever model it is.

    Args:
        model: a causal language model.
        places: [B, T] bool.

    Yields:
        A list that will hold what the head saw.
    """
    seen: list[Tensor] = []

    def select(_: Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        seen.append(inputs[0][places])
        return (seen[0], *inputs[1:])

    hook = model.get_output_embeddings().register_forward_pre_hook(select)
    try:
        yield seen
    finally:
        hook.remove()


def predict(model: CausalModel, batch: Batch) -> Predictions:
    """Logits and hidden states before each target of a batch.

    Rows are padded at the right and attention is causal, so no real token sees the padding and
    no attention mask is needed.
    """
    with _only_at(model, batch.predicts) as seen:
        logits = model(input_ids=batch.ids, use_cache=False).logits
    return Predictions(logits.float(), seen[0])


def token_logprobs(model: CausalModel, batch: Batch) -> Tensor:
    """[N] log-probability of each target of a batch, in nats."""
    return logprobs_of(predict(model, batch).logits, batch.targets)


def logprobs_of(logits: Tensor, targets: Tensor) -> Tensor:
    """[N] log-probability of each target, in nats.

    Args:
        logits: [N, V].
        targets: [N] ids.
    """
    from torch.nn.functional import cross_entropy

    return -cross_entropy(logits, targets, reduction="none")


def answer_sums(values: Tensor, batch: Batch) -> AnswerLogProbs:
    """Sum a value a target over each answer.

    Args:
        values: [N], in the order of `batch.targets`.
        batch: of pairs, as `make_batch` lays them out.
    """
    rows = row_sums(values, batch)
    return AnswerLogProbs(rows[: batch.pairs], rows[batch.pairs :])


def row_sums(values: Tensor, batch: Batch) -> Tensor:
    """[R] sums of a value a target over each row.

    Args:
        values: [N], in the order of `batch.targets`.
        batch: of R rows.
    """
    return values.new_zeros(batch.ids.shape[0]).index_add(0, batch.rows, values)


def score(
    model: CausalModel, pairs: Sequence[EncodedPair], *, pad: int, device: str = "cpu"
) -> Scores:
    """Score at least one pair, all at once; see `score_groups`."""
    return list(score_groups(model, pairs, pad=pad, device=device))[-1]


def score_groups(
    model: CausalModel, pairs: Sequence[EncodedPair], *, pad: int, device: str = "cpu"
) -> Iterator[Scores]:
    """Score pairs group by group of like length, so that a caller can give signs of life.

    Args:
        model: a causal language model with dropout off.
        pairs: what to score.
        pad: id of the padding.
        device: where the model is.

    Yields:
        The same growing result after each group; complete with the last.
    """
    import torch

    filled = [torch.zeros(len(pairs)) for _ in range(4)]
    result = Scores(AnswerLogProbs(*filled[:2]), AnswerLogProbs(*filled[2:]))
    for group in groups_by_length(pairs):
        batch = make_batch([pairs[index] for index in group], pad=pad, device=device)
        with torch.inference_mode():
            values = token_logprobs(model, batch)
            sums = answer_sums(values, batch)
            counts = answer_sums(torch.ones_like(values), batch)
        for side in (0, 1):
            result.sums[side][group] = sums[side].cpu()
            result.means[side][group] = (sums[side] / counts[side].clamp(min=1)).cpu()
        yield result


def score_rows(
    model: CausalModel, rows: Sequence[Row], *, pad: int, device: str = "cpu"
) -> Iterator[RowScores]:
    """Score rows group by group of like length, as `score_groups` does pairs.

    Args:
        model: a causal language model with dropout off.
        rows: what to score, at least one.
        pad: id of the padding.
        device: where the model is.

    Yields:
        The same growing result after each group; complete with the last.
    """
    import torch

    result = RowScores(torch.zeros(len(rows)), torch.zeros(len(rows)))
    for group in groups_by_length(rows):
        batch = make_rows([rows[index] for index in group], pad=pad, device=device)
        with torch.inference_mode():
            values = token_logprobs(model, batch)
            sums = row_sums(values, batch)
            counts = row_sums(torch.ones_like(values), batch)
        result.sums[group] = sums.cpu()
        result.means[group] = (sums / counts.clamp(min=1)).cpu()
        yield result
