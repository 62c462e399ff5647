"""Pairs as token ids: a shared prompt, the right tokens learnt, the right ones cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_pairs import make_pairs

from contracts.errors import JobFailed
from training.episodes.encoding import EncodedPair, encode_pairs
from training.episodes.fitting import Answer
from training.episodes.order import batch_at
from training.models.protocols import Tokenizer
from training.models.tokenizer import texts_of, train_tokenizer
from trajectories.message import Message
from trajectories.pair import Pair


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(texts_of(make_pairs(20)), vocab_size=320, context=64)


def say(role: str, content: str) -> Message:
    return Message.model_validate({"role": role, "content": content})


def text(tokenizer: Tokenizer, ids: tuple[int, ...]) -> str:
    return tokenizer.decode(list(ids))


def test_both_answers_follow_the_same_prompt_and_end_themselves(tokenizer: Tokenizer) -> None:
    (made,), cut = encode_pairs(make_pairs(1), tokenizer, context=64)
    assert text(tokenizer, made.prompt).startswith("<|user|>Where is")
    assert text(tokenizer, made.prompt).endswith("<|end|><|assistant|>")
    assert text(tokenizer, made.chosen.ids).endswith("comes on Friday.<|end|>")
    assert text(tokenizer, made.rejected.ids).endswith("maybe.<|end|>")
    assert set(made.chosen.learn) == {1}
    assert (cut.prompts, cut.answers) == (0, 0)


def test_only_what_the_assistant_says_is_learnt_in_an_answer_of_several_turns(
    tokenizer: Tokenizer,
) -> None:
    pair = Pair.of(
        [say("system", "Be kind."), say("user", "Hello")],
        [say("assistant", "one"), say("user", "and?"), say("assistant", "two")],
        [say("assistant", "three")],
    )
    (made,), _ = encode_pairs([pair], tokenizer, context=200)
    assert (
        text(tokenizer, made.chosen.ids) == "one<|end|><|user|>and?<|end|><|assistant|>two<|end|>"
    )
    marks = zip(made.chosen.ids, made.chosen.learn, strict=True)
    learnt = tuple(token for token, learn in marks if learn)
    assert text(tokenizer, learnt) == "one<|end|>two<|end|>"


def test_what_a_template_adds_after_the_end_token_is_not_learnt(tokenizer: Tokenizer) -> None:
    import copy

    other = copy.deepcopy(tokenizer)
    other.chat_template = (
        "{%- for m in messages -%}{{- '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}\n"
        "{% endfor -%}{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}"
    )
    (made,), _ = encode_pairs(make_pairs(1), other, context=64)
    assert text(other, made.prompt).endswith("<|end|>\n<|assistant|>")
    assert text(other, made.chosen.ids).endswith("Friday.<|end|>")


def test_a_template_that_rewrites_earlier_turns_is_refused_by_name(tokenizer: Tokenizer) -> None:
    import copy

    other = copy.deepcopy(tokenizer)
    other.chat_template = "{{- messages | length ~ messages[-1]['content'] -}}"
    with pytest.raises(JobFailed, match="append-only"):
        encode_pairs(make_pairs(1), other, context=64)


def test_pairs_that_were_cut_are_counted(tokenizer: Tokenizer) -> None:
    turns = [say("user", "x" * 100)], [say("assistant", "y" * 10)], [say("assistant", "z" * 90)]
    (made,), cut = encode_pairs([Pair.of(*turns)], tokenizer, context=64)
    assert (cut.prompts, cut.answers) == (1, 1)
    assert (len(made.prompt), len(made.rejected.ids)) == (1, 63)


def test_answers_that_differ_only_beyond_the_context_are_known_to_be_alike(
    tokenizer: Tokenizer,
) -> None:
    same = "y" * 100
    asked = [say("user", "x")]
    pair = Pair.of(asked, [say("assistant", same + "a")], [say("assistant", same + "b")])
    (made,), cut = encode_pairs([pair], tokenizer, context=64)
    assert not made.distinct
    assert (cut.cut, cut.actions) == (1, 1)
    assert EncodedPair((1,), Answer((1,), (1,)), Answer((2,), (1,))).distinct


@given(st.integers(1, 20), st.integers(1, 30), st.integers(0, 5))
def test_an_epoch_takes_every_pair_once_whatever_the_batch_size(
    pairs: int, batch_size: int, seed: int
) -> None:
    steps = 3 * pairs
    order = [
        index
        for step in range(steps)
        for index in batch_at(step, pairs=pairs, batch_size=batch_size, seed=seed)
    ]
    for start in range(0, len(order) - pairs + 1, pairs):
        assert sorted(order[start : start + pairs]) == list(range(pairs))


def test_the_order_depends_on_the_seed_and_on_the_epoch() -> None:
    def epoch(number: int, seed: int) -> list[int]:
        return batch_at(number, pairs=50, batch_size=50, seed=seed)

    assert epoch(0, 1) == epoch(0, 1)
    assert epoch(0, 1) != epoch(0, 2)
    assert epoch(0, 1) != epoch(1, 1)
