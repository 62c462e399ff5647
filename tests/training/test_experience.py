"""What an iteration's update sees: right, and the same however its rows are laid out."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from played import played, policy
from torch import Tensor

from contracts.errors import JobFailed
from contracts.steps import Ppo
from training.algorithms.descent import make_optimizer
from training.algorithms.experience import Experience, Observer
from training.algorithms.ppo_learner import PpoLearner, minibatches
from training.episodes import batching
from training.models.value_head import make_value_head
from training.rollouts.episode import Episode

PAD = 0


def recipe(**changes: Any) -> Ppo:
    return Ppo(**{"algorithm": "ppo", "episodes": 8, "minibatches": 2, **changes})


def observer(chosen: Ppo, **changes: Any) -> Observer:
    head = make_value_head(policy())
    torch.manual_seed(3)
    torch.nn.init.normal_(head.weight, std=0.1)
    settings = {"reference": None, "pad": PAD} | changes
    return Observer(policy(), head, recipe=chosen, **settings)


def look(episodes: list[Episode], chosen: Ppo | None = None, **changes: Any) -> Experience:
    return observer(chosen or recipe(), **changes).look(episodes)


def test_the_trainers_logprobs_are_those_of_the_sampler() -> None:
    experience = look(played(24))
    assert 0 < experience.sampler_gap <= 1e-4
    assert int(experience.actions.sum()) == sum(sum(row.learn) for row in experience.rows)


def test_a_sampler_that_is_another_policy_is_refused() -> None:
    episodes = played(4)
    lies = [
        logprob + 0.02 * acted
        for logprob, acted in zip(episodes[1].logprobs, episodes[1].actions, strict=True)
    ]
    with pytest.raises(JobFailed, match=r"differ from the trainer's by up to 0\.02"):
        look([episodes[0], replace(episodes[1], logprobs=lies)])


def test_logprobs_that_are_no_numbers_are_refused() -> None:
    episodes = played(2)
    broken = [math.nan if acted else 0.0 for acted in episodes[0].actions]
    with pytest.raises(JobFailed, match="sampler's log-probabilities"):
        look([replace(episodes[0], logprobs=broken)])


def test_a_reward_on_a_given_token_is_refused_not_lost() -> None:
    (episode,) = played(1)
    rewards = list(episode.rewards)
    rewards[0] = 1.0
    with pytest.raises(JobFailed, match="did not sample"):
        look([replace(episode, rewards=rewards)])


def test_rewards_are_the_environments_and_lie_on_actions() -> None:
    episodes = played(8)
    experience = look(episodes)
    sums = experience.rewards.sum(1).tolist()
    assert sums == pytest.approx([episode.reward for episode in episodes], abs=1e-5)
    assert (experience.rewards[~experience.actions] == 0).all()


def test_advantages_are_whitened_over_all_actions_of_all_episodes() -> None:
    experience = look(played(8))
    chosen = experience.advantages[experience.actions]
    assert float(chosen.mean()) == pytest.approx(0, abs=1e-5)
    assert float(chosen.std()) == pytest.approx(1, abs=1e-5)


def test_the_penalty_for_leaving_the_reference_is_taken_from_every_action() -> None:
    other = make_other()
    episodes = played(4)
    free, held = look(episodes), look(episodes, recipe(kl_weight=0.5), reference=other)
    penalty = 0.5 * (held.old - held.reference)
    assert float(penalty[held.actions].abs().max()) > 0.01
    expected = torch.where(held.actions, free.rewards - penalty, 0.0)
    assert torch.allclose(held.rewards, expected, atol=1e-6)
    assert held.reference_kl == pytest.approx(
        float((held.old - held.reference)[held.actions].mean()), abs=1e-6
    )
    alike = look(episodes, recipe(kl_weight=0.5), reference=policy())
    assert torch.allclose(alike.rewards, free.rewards, atol=1e-6)


def make_other() -> Any:
    import copy

    other = copy.deepcopy(policy())
    for weight in other.parameters():
        weight.data.mul_(1.1)
    return other


def gradient(episodes: list[Episode], monkeypatch: pytest.MonkeyPatch, tokens: int) -> Tensor:
    """The gradient of one minibatch of all episodes, after the policy has moved a little."""
    import copy

    def grouped(rows: Any) -> list[list[int]]:
        return batching.groups_by_length(rows, tokens=tokens)

    monkeypatch.setattr("training.algorithms.experience.groups_by_length", grouped)
    monkeypatch.setattr("training.algorithms.ppo_learner.groups_by_length", grouped)
    chosen = recipe(gradient_clip=1e9)
    seen = observer(chosen)
    experience = seen.look(episodes)
    model = copy.deepcopy(policy())
    for weight in model.parameters():
        weight.data.mul_(1.01)
    parameters = [*model.parameters(), *seen.value_head.parameters()]
    learner = PpoLearner(model, seen.value_head, make_optimizer(parameters), chosen, PAD)
    learner.step(1, experience, range(len(episodes)), rate=0.0)
    return torch.cat([weight.grad.flatten() for weight in parameters])


def test_the_gradient_is_the_same_for_any_micro_batch_padding_and_row_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episodes = played(10)
    whole = gradient(episodes, monkeypatch, 10**6)
    assert float(whole.norm()) > 1e-3
    for tokens, order in ((1, episodes), (150, episodes), (10**6, episodes[::-1])):
        other = gradient(order, monkeypatch, tokens)
        assert torch.allclose(whole, other, rtol=1e-3, atol=1e-5 * float(whole.norm()))


def test_nothing_of_given_tokens_reaches_an_update(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken numbers where the policy did not act change neither figures nor gradient."""
    chosen = recipe()
    seen = observer(chosen)
    experience = seen.look(played(4))

    def broken(values: Tensor) -> Tensor:
        return torch.where(experience.actions, values, torch.nan)

    poisoned = replace(
        experience,
        old=broken(experience.old),
        values=broken(experience.values),
        advantages=broken(experience.advantages),
        returns=broken(experience.returns),
    )
    model = policy()
    parameters = [*model.parameters(), *seen.value_head.parameters()]
    found = []
    for one in (experience, poisoned):
        learner = PpoLearner(model, seen.value_head, make_optimizer(parameters), chosen, PAD)
        sums = learner.step(1, one, [0, 1, 2, 3], rate=0.0)
        found.append([*map(float, sums), float(sum(w.grad.square().sum() for w in parameters))])
    assert found[0] == found[1]
    assert all(map(math.isfinite, found[1]))


def test_a_first_pass_over_the_episodes_finds_the_policy_as_it_was() -> None:
    chosen = recipe(minibatches=1, epochs=1)
    seen = observer(chosen)
    experience = seen.look(played(8))
    parameters = [*seen.model.parameters(), *seen.value_head.parameters()]
    learner = PpoLearner(seen.model, seen.value_head, make_optimizer(parameters), chosen, PAD)
    sums = learner.step(1, experience, range(8), rate=0.0)
    assert float(sums.kl) == pytest.approx(0, abs=1e-4)
    assert float(sums.clipped) == 0
    assert float(sums.policy) == pytest.approx(0, abs=1e-2)


@pytest.mark.parametrize(("episodes", "parts"), [(8, 2), (7, 3), (2, 4)])
def test_every_pass_takes_each_episode_once_in_an_order_of_its_own(
    episodes: int, parts: int
) -> None:
    chosen = recipe(episodes=12, minibatches=parts, epochs=2)
    made = list(minibatches(episodes, chosen, seed="0:0"))
    flat = [index for part in made for index in part]
    assert sorted(flat[:episodes]) == sorted(flat[episodes:]) == list(range(episodes))
    assert max(map(len, made)) - min(map(len, made)) <= 1
    assert made == list(minibatches(episodes, chosen, seed="0:0"))
    assert made != list(minibatches(episodes, chosen, seed="0:1"))
