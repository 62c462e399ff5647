"""Rollouts: what is sampled is kept as it was, exact, and the same however it was batched."""

import math
from collections import Counter

import pytest
import torch
from played import CONTEXT, Misbehaving, Waiting, plans, played, policy, tokenizer

from contracts.errors import ContractBroken, JobFailed
from training.environments.guess_number import GuessNumber
from training.rollouts.episode import Episode
from training.rollouts.reading import Chunk, Reader
from training.rollouts.sampling import draw
from training.rollouts.seeds import EpisodePlan, episode_seed
from training.rollouts.statistics import pass_at, statistics


def again(ids: list[int]) -> torch.Tensor:
    """Log-probabilities [T-1, V] of transformers' own pass over the whole episode."""
    with torch.no_grad():
        logits = policy()(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    return torch.log_softmax(logits.float(), dim=-1)[:-1]


def off_by(episode: Episode, temperature: float = 1.0) -> float:
    """Largest difference between log-probabilities at sampling and over the whole episode."""
    with torch.no_grad():
        logits = policy()(input_ids=torch.tensor([episode.ids]), use_cache=False).logits[0]
    full = torch.log_softmax(logits.float() / temperature, dim=-1)
    return max(
        abs(full[place - 1, token].item() - logprob)
        for place, (token, action, logprob) in enumerate(
            zip(episode.ids, episode.actions, episode.logprobs, strict=True)
        )
        if action
    )


def told(episodes: list[Episode]) -> list[tuple[object, ...]]:
    """What must not depend on how episodes were batched."""
    return [
        (one.index, one.seed, one.task, one.ids, one.actions, one.rewards, one.turns, one.success)
        for one in episodes
    ]


def test_log_probabilities_are_those_of_a_full_pass_for_rows_of_all_lengths() -> None:
    episodes = played(64)
    assert max(off_by(episode) for episode in episodes) <= 1e-5
    assert len({len(episode.ids) for episode in episodes}) > 8


def test_they_are_so_alone_in_odd_batches_and_when_rows_are_replaced() -> None:
    for rows in (1, 5, 64):
        assert max(off_by(episode) for episode in played(20, rows=rows)) <= 1e-5


def test_a_temperature_counts_in_the_log_probabilities_too() -> None:
    episodes = played(16, temperature=0.5)
    assert max(off_by(episode, 0.5) for episode in episodes) <= 1e-5
    assert max(off_by(episode) for episode in episodes) > 0.1


@pytest.mark.parametrize("rows", [1, 3, 16, 256])
def test_any_number_of_rows_gives_the_same_episodes(rows: int) -> None:
    assert told(played(48, rows=rows)) == told(played(48))


def test_an_episode_does_not_depend_on_which_others_are_played() -> None:
    everything = played(30)
    some = plans(30)[7:23:3]
    assert told(played(plans=some)) == told([everything[plan.index] for plan in some])


def test_other_seeds_and_other_streams_sample_otherwise() -> None:
    base = [one.ids for one in played(8)]
    assert [one.ids for one in played(8, generator_seed=1)] != base
    moved = [EpisodePlan(plan.index, plan.seed + 1, plan.task) for plan in plans(8)]
    assert [one.ids for one in played(plans=moved)] != base
    assert [one.ids for one in played(8)] == base


def test_greedy_play_takes_the_likeliest_token_whatever_the_seed() -> None:
    moved = [EpisodePlan(plan.index, plan.seed + 1, plan.task) for plan in plans(8)]
    episodes = played(8, temperature=0.0)
    assert [one.ids for one in episodes] == [
        one.ids for one in played(plans=moved, temperature=0.0)
    ]
    for episode in episodes:
        likeliest = again(episode.ids).argmax(dim=-1)
        for place, action in enumerate(episode.actions):
            assert not action or likeliest[place - 1] == episode.ids[place]


def test_the_tokens_are_the_conversation_and_only_sampled_ones_are_actions() -> None:
    for episode in played(24):
        replayed = GuessNumber()
        text = replayed.reset(seed=episode.seed, task=episode.task)[0]
        rebuilt = f"<|user|>{text}<|end|><|assistant|>"
        for message in episode.messages[1:]:
            said = message["content"]
            if message["role"] == "assistant":
                step = replayed.step(said)
                rebuilt += f"{said}<|end|>"
            else:
                assert said == step.observation
                rebuilt += f"<|user|>{said}<|end|><|assistant|>"
        decoded = tokenizer().decode(episode.ids, skip_special_tokens=False)
        assert rebuilt in (decoded, f"{decoded}<|end|>")
        asked = sum(one["role"] == "user" for one in episode.messages)
        assert (
            asked
            == episode.turns
            == sum(
                action and not before
                for action, before in zip(episode.actions[1:], episode.actions, strict=False)
            )
        )


def test_a_reward_lies_on_the_last_sampled_token_of_its_turn() -> None:
    for episode in played(24):
        last = [
            place
            for place, action in enumerate(episode.actions)
            if action and not [*episode.actions, False][place + 1]
        ]
        assert {place for place, reward in enumerate(episode.rewards) if reward} == set(last)
        assert math.isclose(sum(episode.rewards), episode.reward)
        assert [
            r for r, a in zip(episode.logprobs, episode.actions, strict=True) if not a and r
        ] == []


def test_an_answer_that_was_cut_gets_its_end_given_not_sampled() -> None:
    end = tokenizer().eos_token_id
    cut = 0
    for episode in played(32, max_new_tokens=2):
        for place, action in enumerate(episode.actions[:-1]):
            if action and not episode.actions[place + 1] and episode.ids[place] != end:
                assert episode.ids[place + 1] == end
                cut += 1
    assert cut > 5


def test_a_bad_format_costs_a_turn_and_is_counted() -> None:
    episodes = played(32)
    bad = [one for one in episodes if one.format_errors == one.turns == 5]
    assert bad
    assert all(math.isclose(one.reward, -0.75) and one.terminated for one in bad)
    assert any(one.success for one in episodes)


def test_turns_and_context_cut_an_episode_off() -> None:
    by_turns = played(12, max_turns=2)
    assert {one.turns for one in by_turns if not one.success} == {2}
    assert all(one.truncated and not one.terminated for one in by_turns if not one.success)
    by_context = played(12, context=24)
    assert max(len(one.ids) for one in by_context) <= 24
    assert any(one.truncated and one.turns < 5 for one in by_context)
    assert max(off_by(one) for one in by_context) <= 1e-5


def test_a_context_that_no_turn_fits_gives_an_episode_without_any() -> None:
    (episode,) = played(1, context=4)
    assert (episode.turns, episode.ids, episode.truncated) == (0, [], True)


def test_environments_may_be_slow_without_changing_anything() -> None:
    assert told(played(16, Waiting)) == told(played(16))


@pytest.mark.parametrize("where", ["step", "reset"])
def test_every_environment_is_closed_once_also_one_that_failed(where: str) -> None:
    made: list[Misbehaving] = []
    closed: list[Misbehaving] = []

    class Counted(Misbehaving):
        def __init__(self) -> None:
            super().__init__("raise", where=where)
            made.append(self)

        def close(self) -> None:
            closed.append(self)

    assert any(one.failed for one in played(32, Counted))
    assert sorted(map(id, closed)) == sorted(map(id, made))


@pytest.mark.parametrize("where", ["step", "reset"])
@pytest.mark.parametrize(
    ("how", "reason"),
    [("raise", "ZeroDivisionError: of the environment"), ("hang", "no answer within 0.5 s")],
)
def test_an_environment_that_fails_costs_its_own_episodes_and_no_other(
    how: str, reason: str, where: str
) -> None:
    episodes = played(32, lambda: Misbehaving(how, where=where), step_limit_s=0.5)
    assert [one.index for one in episodes] == list(range(32))
    failed = [one for one in episodes if one.failed]
    assert {one.failed for one in failed} == {reason}
    assert {one.index for one in failed} == {one.index for one in episodes if one.task % 4 == 0}
    rest = {one.index for one in episodes if not one.failed}
    assert told([one for one in episodes if not one.failed]) == told(
        [one for one in played(32) if one.index in rest]
    )
    assert statistics(episodes)["failed"] == 8


@pytest.mark.parametrize("where", ["step", "reset"])
def test_an_environment_that_cannot_be_closed_either_says_why_it_failed_first(where: str) -> None:
    class Stuck(Misbehaving):
        def close(self) -> None:
            raise OSError("nothing there to close")

    reasons = {one.failed for one in played(16, lambda: Stuck("raise", where=where)) if one.failed}
    assert reasons == {"ZeroDivisionError: of the environment"}


def test_a_step_that_is_none_fails_its_episode() -> None:
    episodes = played(16, lambda: Misbehaving("text"))
    assert {one.failed for one in episodes if one.failed} == {
        "TypeError: step gave str, not a Step with a text"
    }


def test_a_reward_that_is_not_finite_is_refused_by_name() -> None:
    with pytest.raises(JobFailed, match=r"Misbehaving gave a reward of nan at episode \d+, turn 1"):
        played(16, lambda: Misbehaving("nan"))


def test_the_reader_reads_on_from_where_each_row_is() -> None:
    reader = Reader(policy(), rows=3, context=CONTEXT)
    texts = [[5, 6, 7, 8, 9, 10, 11], [5, 6, 7], [40, 41, 42, 43, 44, 45, 46, 47, 48]]
    cuts = [[3, 4], [3], [2, 1, 6]]
    read = [0, 0, 0]
    for turn in range(3):
        chunks = []
        for row, cut in enumerate(cuts):
            if turn < len(cut):
                ids = tuple(texts[row][read[row] : read[row] + cut[turn]])
                chunks.append(Chunk(row, read[row], ids))
                read[row] += cut[turn]
        logits = reader.read(chunks)
        for chunk, row in zip(chunks, logits, strict=True):
            whole = torch.tensor([texts[chunk.row][: read[chunk.row]]])
            with torch.no_grad():
                expected = policy()(input_ids=whole, use_cache=False).logits[0, -1]
            assert (row - expected).abs().max() < 1e-5


def drawn(logits: torch.Tensor, temperature: float, *chances: float) -> list[tuple[int, float]]:
    """Tokens and log-probabilities, one a chance."""
    rows = logits.expand(len(chances), -1)
    tokens, logprobs = draw(rows, temperature, torch.tensor(chances, dtype=torch.float64))
    return list(zip(tokens.tolist(), logprobs.tolist(), strict=True))


def test_drawing_follows_the_distribution_and_tells_its_log_probability() -> None:
    logits = torch.log(torch.tensor([[0.1, 0.0, 0.6, 0.3]]))
    found = drawn(logits, 1.0, *((step + 0.5) / 1000 for step in range(1000)))
    assert Counter(token for token, _ in found) == {0: 100, 2: 600, 3: 300}
    shares = {0: 0.1, 2: 0.6, 3: 0.3}
    assert all(
        math.isclose(logprob, math.log(shares[token]), rel_tol=1e-5) for token, logprob in found
    )
    assert drawn(logits, 1.0, 1 - 2**-53)[0][0] == 3
    assert drawn(logits, 0.0, 0.0)[0][0] == 2
    assert math.isclose(drawn(logits, 0.5, 0.5)[0][1], math.log(0.36 / 0.46), rel_tol=1e-5)


def test_seeds_of_different_purposes_never_meet_and_none_is_one_that_people_give() -> None:
    seeds = {
        purpose: {episode_seed("r1", 1, purpose, index) for index in range(2_000)}
        for purpose in ("collect", "optimize-0", "optimize-1", "evaluate")
    }
    assert {len(found) for found in seeds.values()} == {2_000}
    assert len(set().union(*seeds.values())) == 8_000
    assert {seed >> 51 for seed in seeds["collect"]} == {1}
    assert {seed >> 51 for seed in seeds["optimize-0"] | seeds["optimize-1"]} == {2}
    assert {seed >> 51 for seed in seeds["evaluate"]} == {3}
    assert episode_seed("r1", 1, "collect", 5) == episode_seed("r1", 1, "collect", 5)
    assert episode_seed("r2", 1, "collect", 5) != episode_seed("r1", 1, "collect", 5)
    assert episode_seed("r1", 2, "collect", 5) != episode_seed("r1", 1, "collect", 5)


def test_an_episode_comes_back_from_its_line_as_it_was() -> None:
    for episode in played(6):
        line = episode.to_line()
        assert line.endswith(b"\n")
        assert Episode.from_line(line, where="here") == episode


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b'{"index": 1}'])
def test_a_line_that_is_no_episode_is_refused(line: bytes) -> None:
    with pytest.raises(ContractBroken, match="here:"):
        Episode.from_line(line, where="here")


def test_a_line_whose_parts_differ_in_length_is_refused() -> None:
    (episode,) = played(1)
    episode.rewards.append(0.0)
    with pytest.raises(ContractBroken, match="differ in length"):
        Episode.from_line(episode.to_line(), where="here")


def one(task: int, *, success: bool, failed: str = "") -> Episode:
    rewards = [0.0, 0.0, 1.0 if success else -0.1]
    return Episode(
        index=0,
        seed=0,
        task=task,
        ids=[1, 2, 3],
        actions=[False, True, True],
        logprobs=[0.0, -1.0, -1.0],
        rewards=rewards,
        reward=rewards[-1],
        success=success,
        turns=2,
        terminated=success,
        truncated=not success,
        format_errors=int(not success),
        failed=failed,
    )


def test_statistics_are_means_over_the_episodes_that_did_not_fail() -> None:
    episodes = [
        *(one(0, success=success) for success in (True, True, False, False)),
        *(one(1, success=success) for success in (True, False, False, False)),
        one(1, success=False, failed="it hung"),
    ]
    figures = statistics(episodes)
    assert figures == {
        "episodes": 9.0,
        "failed": 1.0,
        "mean_reward": pytest.approx((3 - 0.5) / 8),
        "success_rate": pytest.approx(3 / 8),
        "turns": 2.0,
        "tokens": 2.0,
        "length": 3.0,
        "longest": 3.0,
        "truncated": pytest.approx(5 / 8),
        "format_errors": pytest.approx(5 / 16),
        "pass_at_2": pytest.approx(((1 - 1 / 6) + (1 - 3 / 6)) / 2),
        "pass_at_4": 1.0,
    }
    assert statistics([one(0, success=False, failed="it hung")]) == {"episodes": 1.0, "failed": 1.0}


def test_pass_at_k_is_the_share_of_choices_that_hold_a_success() -> None:
    from itertools import combinations

    for solved in range(7):
        marks = [True] * solved + [False] * (6 - solved)
        for k in range(1, 7):
            choices = list(combinations(marks, k))
            assert math.isclose(pass_at(k, 6, solved), sum(map(any, choices)) / len(choices))
