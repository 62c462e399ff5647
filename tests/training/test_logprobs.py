"""Log-probabilities of answers: right, and the same however the rows are laid out."""

import pytest
import torch
from tiny_policy import PAD, random_model, random_pairs
from torch import Tensor

from contracts.steps import Dpo
from training.algorithms.descent import make_optimizer
from training.algorithms.dpo import AnswerLogProbs
from training.algorithms.dpo_learner import DpoLearner
from training.algorithms.logprobs import answer_sums, score, token_logprobs
from training.episodes import batching
from training.episodes.batching import groups_by_length, make_batch
from training.episodes.encoding import Answer, EncodedPair
from training.models.protocols import CausalModel


def one_by_one(model: CausalModel, prompt: tuple[int, ...], answer: Answer) -> float:
    """The definition: an unpadded row, all logits, the tokens to learn."""
    ids = torch.tensor([prompt + answer.ids])
    with torch.inference_mode():
        logits = model(input_ids=ids, use_cache=False).logits[0].log_softmax(-1)
    start = len(prompt)
    return sum(
        float(logits[start + place - 1, token])
        for place, (token, learn) in enumerate(zip(answer.ids, answer.learn, strict=True))
        if learn
    )


def test_sums_are_those_of_the_definition_token_by_token() -> None:
    model, pairs = random_model(), random_pairs(9)
    found = score(model, pairs, pad=PAD)
    for index, pair in enumerate(pairs):
        assert float(found.sums.chosen[index]) == pytest.approx(
            one_by_one(model, pair.prompt, pair.chosen), abs=2e-5
        )
        assert float(found.sums.rejected[index]) == pytest.approx(
            one_by_one(model, pair.prompt, pair.rejected), abs=2e-5
        )


def test_means_divide_by_the_tokens_that_are_learnt() -> None:
    pairs = random_pairs(5)
    found = score(random_model(), pairs, pad=PAD)
    counts = torch.tensor([float(sum(pair.chosen.learn)) for pair in pairs])
    assert torch.allclose(found.means.chosen * counts, found.sums.chosen)


def test_the_logits_are_made_for_the_answers_only() -> None:
    model, pairs = random_model(), random_pairs(4)
    seen: list[Tensor] = []
    model.get_output_embeddings().register_forward_hook(lambda *call: seen.append(call[1][0]))
    batch = make_batch(pairs, pad=PAD)
    token_logprobs(model, batch)
    learnt = sum(sum(pair.chosen.learn) + sum(pair.rejected.learn) for pair in pairs)
    assert seen[0].shape[0] == learnt


def test_wider_padding_and_another_padding_id_change_nothing() -> None:
    model, pairs = random_model(), random_pairs(3)
    longer = EncodedPair(tuple([5] * 40), Answer((3,), (1,)), Answer((4,), (1,)))
    alone = score(model, pairs, pad=PAD).sums
    wide = make_batch([*pairs, longer], pad=17)
    padded = answer_sums(token_logprobs(model, wide), wide)
    assert torch.allclose(padded.chosen[:3], alone.chosen, atol=1e-5)
    assert torch.allclose(padded.rejected[:3], alone.rejected, atol=1e-5)


def test_an_answer_without_a_token_to_learn_counts_nothing_and_breaks_nothing() -> None:
    pair = EncodedPair((3,), Answer((4, 5), (0, 0)), Answer((6,), (1,)))
    found = score(random_model(), [pair], pad=PAD)
    assert float(found.sums.chosen) == 0.0
    assert float(found.means.chosen) == 0.0


@pytest.mark.parametrize("tokens", [1, 100, 10**6])
def test_groups_hold_every_pair_once_and_keep_to_their_budget(tokens: int) -> None:
    pairs = random_pairs(30)
    groups = groups_by_length(pairs, tokens=tokens)
    assert sorted(index for group in groups for index in group) == list(range(30))
    for group in groups:
        padded = 2 * len(group) * max(pairs[index].length for index in group)
        assert len(group) == 1 or padded <= tokens


def gradient_of(pairs: list[EncodedPair], monkeypatch: pytest.MonkeyPatch, tokens: int) -> Tensor:
    """The gradient of a step, with a reference that is not the policy."""
    monkeypatch.setattr(
        "training.algorithms.dpo_learner.groups_by_length",
        lambda them: batching.groups_by_length(them, tokens=tokens),
    )
    model = random_model()
    sums = score(random_model(seed=1), pairs, pad=PAD).sums
    recipe = Dpo(
        algorithm="dpo", learning_rate=1e-9, chosen_nll_weight=0.5, gradient_clip=1e9, beta=0.5
    )
    learner = DpoLearner(model, make_optimizer(model.parameters()), recipe, PAD)
    learner.step(0, pairs, AnswerLogProbs(*sums))
    return torch.cat([weight.grad.flatten() for weight in model.parameters()])


def test_the_gradient_is_the_same_for_any_micro_batch_and_row_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = random_pairs(10)
    whole = gradient_of(pairs, monkeypatch, 10**6)
    assert float(whole.norm()) > 1e-3
    for tokens, order in ((1, pairs), (150, pairs), (10**6, pairs[::-1])):
        other = gradient_of(order, monkeypatch, tokens)
        assert torch.allclose(whole, other, rtol=1e-4, atol=1e-6 * float(whole.norm()))
