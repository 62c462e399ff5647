"""Imitation: which episodes, which of their tokens, and a mean over the whole batch."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sample_games import make_games
from tiny_policy import PAD, random_model, random_pairs
from torch import Tensor

from contracts.steps import Sft
from training.algorithms.descent import make_optimizer
from training.algorithms.sft import share_of_loss
from training.algorithms.sft_learner import SftLearner
from training.episodes import batching
from training.episodes.encoding import Row, encode_trajectories
from training.lessons.sft_lesson import best
from training.models.tokenizer import texts_of_episodes, train_tokenizer
from trajectories.message import Message
from trajectories.trajectory import Trajectory


def trajectories(count: int) -> list[Trajectory]:
    return [
        Trajectory.of(
            str(game["task_id"]),
            str(game["trial"]),
            game["reward"],
            [Message.model_validate(turn) for turn in game["traj"]],
        )
        for game in make_games(count)
    ]


def rows() -> list[Row]:
    return [pair.branch(pair.chosen) for pair in random_pairs(10)]


def test_the_loss_is_the_negative_log_likelihood_a_token() -> None:
    logprobs = torch.tensor([0.5, 0.25, 0.125]).log()
    assert float(share_of_loss(logprobs, tokens=3)) == pytest.approx(math.log(64) / 3)
    parts = [share_of_loss(part, tokens=3) for part in (logprobs[:1], logprobs[1:])]
    assert float(sum(parts)) == pytest.approx(math.log(64) / 3)


def step(chosen: list[Row], monkeypatch: pytest.MonkeyPatch, tokens: int) -> tuple[float, Tensor]:
    monkeypatch.setattr(
        "training.algorithms.sft_learner.groups_by_length",
        lambda them: batching.groups_by_length(them, tokens=tokens),
    )
    model = random_model()
    recipe = Sft(algorithm="sft", learning_rate=1e-9, gradient_clip=1e9)
    learner = SftLearner(model, make_optimizer(model.parameters()), recipe, PAD)
    loss = learner.step(0, chosen)
    return loss, torch.cat([weight.grad.flatten() for weight in model.parameters()])


def test_loss_and_gradient_are_the_same_for_any_micro_batch_and_row_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, gradient = step(rows(), monkeypatch, 10**6)
    for tokens, order in ((1, rows()), (60, rows()), (10**6, rows()[::-1])):
        loss, other = step(order, monkeypatch, tokens)
        assert loss == pytest.approx(whole, rel=1e-5)
        assert torch.allclose(gradient, other, rtol=1e-3, atol=1e-5 * float(gradient.norm()))


def test_the_loss_is_that_of_the_definition_over_the_learnt_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, total, tokens = random_model(), 0.0, 0
    for row in rows():
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([row.ids]), use_cache=False).logits[0]
        said = logits.log_softmax(-1)
        for place, (token, learn) in enumerate(zip(row.ids, row.learn, strict=True)):
            if learn:
                total -= float(said[place - 1, token])
                tokens += 1
    loss, _ = step(rows(), monkeypatch, 10**6)
    assert loss == pytest.approx(total / tokens, rel=1e-5)


def test_only_what_the_assistant_says_in_a_game_is_learnt_its_ends_included() -> None:
    games = trajectories(8)
    tokenizer: Any = train_tokenizer(texts_of_episodes(games), vocab_size=300, context=64)
    made, cut = encode_trajectories(games, tokenizer, context=64)
    assert (cut.prompts, cut.answers) == (0, 0)
    for game, row in zip(games, made, strict=True):
        said = [turn.content for turn in game.messages if turn.role == "assistant"]
        learnt = [token for token, learn in zip(row.ids, row.learn, strict=True) if learn]
        assert tokenizer.decode(learnt) == "".join(f"{words}<|end|>" for words in said)
        whole = tokenizer.decode(list(row.ids))
        assert whole.startswith("<|user|>1-4<|end|><|assistant|>")
        assert whole.endswith("<|end|>")


@given(st.integers(1, 40), st.floats(0.01, 1))
def test_the_best_are_the_top_share_by_return_and_at_least_one(count: int, share: float) -> None:
    returns = [game.reward for game in trajectories(40)[:count]]
    chosen = best(returns, share)
    assert len(set(chosen)) == len(chosen) == max(1, math.ceil(share * count))
    left = set(range(count)) - set(chosen)
    worst = min(returns[place] for place in chosen)
    assert all(returns[place] <= worst for place in left)
    ranks = [(-returns[place], place) for place in chosen]
    assert ranks == sorted(ranks)
