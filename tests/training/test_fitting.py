"""What a conversation loses that is too long: by age, and what the policy says last of all."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.episodes.cut_report import cut_figures, cut_words
from training.episodes.fitting import Answer, Exchange, Fitted, Loss, Prompt, fit

OPEN = -1
"""The token that lets the policy speak."""


def conversation(
    system: int, turns: Sequence[int], last: int, exchanges: Sequence[tuple[int, int]]
) -> tuple[Prompt, list[Exchange]]:
    """Tokens numbered in their order, so that what is left shows what went."""
    number = 0

    def ids(count: int) -> tuple[int, ...]:
        nonlocal number
        number += count
        return tuple(range(number - count, number))

    prompt = Prompt(ids(system), tuple(ids(turn) for turn in turns), (*ids(last), OPEN))
    made = [
        Exchange(ids(given), (OPEN,) if place else (), ids(said))
        for place, (given, said) in enumerate(exchanges)
    ]
    return prompt, made


def whole(prompt: Prompt, answer: Sequence[Exchange]) -> int:
    parts = [prompt.system, *prompt.turns, prompt.last]
    return sum(len(part) for part in parts) + len(Answer.of(answer).ids)


def said_in(answer: Answer) -> list[int]:
    return [token for token, learn in zip(answer.ids, answer.learn, strict=True) if learn]


def test_what_fits_is_left_as_it_is() -> None:
    prompt, answer = conversation(3, [2, 2], 2, [(0, 2), (3, 2)])
    size = whole(prompt, answer)
    made = fit(prompt, [answer], context=size)
    assert made.loss == Loss(rows=1, tokens=size, action_tokens=4)
    assert len(made.prompt) + len(made.answers[0].ids) == size
    assert made.answers == (Answer.of(answer),)


def test_the_oldest_turns_after_the_system_prompt_go_first_and_as_a_whole() -> None:
    prompt, answer = conversation(3, [4, 5], 2, [(0, 2)])
    made = fit(prompt, [answer], context=whole(prompt, answer) - 1)
    assert made.prompt == (0, 1, 2, *range(7, 12), 12, 13, OPEN)
    assert (made.loss.prompts, made.loss.answers, made.loss.tokens_cut) == (1, 0, 4)


def test_then_what_was_said_between_the_policys_turns_goes_oldest_first() -> None:
    prompt, answer = conversation(3, [4], 2, [(0, 2), (6, 2), (5, 2)])
    made = fit(prompt, [answer], context=whole(prompt, answer) - 5)
    assert made.prompt == (0, 1, 2, 7, 8, OPEN)
    assert made.answers[0].ids == (9, 10, OPEN, 17, 18, 19, 20, 21, 22, 23, OPEN, 24, 25)
    assert said_in(made.answers[0]) == [9, 10, 17, 18, 24, 25]
    assert (made.loss.tokens_cut, made.loss.action_tokens_cut) == (10, 0)


def test_then_the_prompt_loses_its_oldest_tokens_the_system_prompts_first() -> None:
    prompt, answer = conversation(4, [], 3, [(0, 5)])
    made = fit(prompt, [answer], context=9)
    assert made.prompt == (4, 5, 6, OPEN)
    assert said_in(made.answers[0]) == [7, 8, 9, 10, 11]


def test_only_then_the_policys_oldest_turns_go_as_a_whole_and_it_is_counted() -> None:
    prompt, answer = conversation(4, [], 3, [(2, 5), (2, 4), (2, 3)])
    made = fit(prompt, [answer], context=10)
    assert said_in(made.answers[0]) == [*range(16, 20), *range(22, 25)]
    assert made.answers[0].ids == (16, 17, 18, 19, OPEN, 22, 23, 24)
    assert made.prompt == (6, OPEN)
    assert (made.loss.actions, made.loss.action_tokens_cut) == (1, 5)
    assert made.loss.action_share == pytest.approx(5 / 12)


def test_only_a_turn_that_is_longer_than_the_context_by_itself_loses_its_end() -> None:
    prompt, answer = conversation(1, [], 1, [(0, 2), (1, 30)])
    made = fit(prompt, [answer], context=8)
    assert made.prompt == (OPEN,)
    assert made.answers[0] == Answer(tuple(range(5, 12)), (1,) * 7)


def test_two_answers_to_one_prompt_share_what_is_left_of_it() -> None:
    prompt, long = conversation(3, [4], 2, [(0, 20)])
    short = [Exchange((), (), (90, 91))]
    made = fit(prompt, [short, long], context=24)
    assert made.prompt == (2, 7, 8, OPEN)
    assert [len(answer.ids) for answer in made.answers] == [2, 20]


sizes = st.integers(0, 12)
conversations = st.builds(
    conversation,
    sizes,
    st.lists(sizes, max_size=4),
    st.integers(1, 8),
    st.lists(st.tuples(sizes, st.integers(1, 12)), min_size=1, max_size=5),
)


@given(st.lists(conversations, min_size=1, max_size=2), st.integers(2, 80))
def test_everything_fits_in_order_and_actions_go_last(
    parts: list[tuple[Prompt, list[Exchange]]], context: int
) -> None:
    prompt, answers = parts[0][0], [answer for _, answer in parts]
    made = fit(prompt, answers, context=context)
    assert made.prompt[-1] == OPEN
    for before, after in zip(answers, made.answers, strict=True):
        check_answer(made, before, after, context)
    sizes = [len(made.prompt), *(len(answer.ids) for answer in made.answers)]
    before_all = whole(prompt, []) + sum(whole(Prompt((), (), ()), answer) for answer in answers)
    assert made.loss.tokens == before_all
    assert made.loss.tokens_cut == before_all - sum(sizes)
    assert made.loss.cut == (made.loss.tokens_cut > 0)


def check_answer(made: Fitted, before: list[Exchange], after: Answer, context: int) -> None:
    assert len(made.prompt) + len(after.ids) <= context
    said = [token for exchange in before for token in exchange.said]
    kept = said_in(after)
    openings = len(before) - 1
    if len(said) + openings < context:
        assert kept == said
    elif len(before[-1].said) < context:
        assert kept in [
            [token for exchange in before[place:] for token in exchange.said]
            for place in range(len(before))
        ]
    else:
        assert kept == list(before[-1].said[: context - 1])


def test_figures_and_words_say_what_was_lost() -> None:
    loss = Loss(
        rows=10, cut=4, prompts=3, answers=2, tokens=1000, tokens_cut=125, action_tokens=100
    )
    figures = cut_figures(loss, "train_")
    assert figures["train_rows_cut"] == 4
    assert figures["train_cut_share"] == 0.125
    assert figures["train_actions_cut_share"] == 0
    (sentence,) = cut_words(loss, "episodes", context=64)
    assert sentence == (
        "4 of 10 episodes are longer than model.context of 64 tokens and lost their oldest turns, "
        "12% of all tokens; no token that the policy says itself is among them"
    )
    (worse,) = cut_words(
        loss + Loss(rows=1, cut=1, actions=1, action_tokens=100, action_tokens_cut=50),
        "episodes",
        context=64,
    )
    assert "1 of them is so long that what the policy says itself went or was cut" in worse
    assert "25.0% of the tokens that it says" in worse
    assert cut_words(Loss(rows=3, tokens=9), "episodes", context=64) == ()
