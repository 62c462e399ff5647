"""Pairs that were dropped as plain text: exactly what the answer adds is judged and learnt."""

import json
import math
from pathlib import Path

import pytest
import torch

from contracts.pipeline import TinyModel
from contracts.steps import Dpo
from training.algorithms.descent import make_optimizer
from training.algorithms.dpo import AnswerLogProbs
from training.algorithms.dpo_learner import DpoLearner
from training.algorithms.logprobs import Scores, score
from training.episodes.encoding import EncodedPair, encode_pairs
from training.models.folders import pad_of
from training.models.protocols import CausalModel, Tokenizer
from training.models.tiny import make_tiny
from training.models.tokenizer import texts_of, train_tokenizer
from training.phases.verdict import compare
from trajectories.pair import Pair
from trajectories.reading import Reader

Record = dict[str, str]
END = "<|end|>"
ASKED = (
    "<|user|>What is 2+2?<|end|><|assistant|>Let me see.<|end|><|user|>Well?<|end|><|assistant|>"
)
TALK = "\n\nHuman: What is 2+2?\n\nAssistant: Let me see.\n\nHuman: Well?\n\nAssistant:"
TEXTS: list[tuple[Record, str, list[str], list[str]]] = [
    (  # HH-RLHF: whole transcripts, of which all but the last turn are the same
        {"chosen": f"{TALK} It is 4.", "rejected": f"{TALK} It is 5, I think."},
        ASKED,
        [f"It is 4.{END}"],
        [f"It is 5, I think.{END}"],
    ),
    (  # HH-RLHF, apart from an earlier turn on: what the human says between is no answer
        {
            "chosen": "\n\nHuman: Hi\n\nAssistant: Yes?\n\nHuman: A\n\nAssistant: ok",
            "rejected": "\n\nHuman: Hi\n\nAssistant: No!\n\nHuman: B\n\nAssistant: It is 5.",
        },
        f"<|user|>Hi{END}<|assistant|>",
        [f"Yes?{END}", f"<|user|>A{END}<|assistant|>", f"ok{END}"],
        [f"No!{END}", f"<|user|>B{END}<|assistant|>", f"It is 5.{END}"],
    ),
    (  # prompt, chosen and rejected as three texts, of which the answers begin alike
        {"prompt": "Name a fruit.", "chosen": "A fruit: apple", "rejected": "A fruit: stone"},
        f"<|user|>Name a fruit.{END}<|assistant|>",
        [f"A fruit: apple{END}"],
        [f"A fruit: stone{END}"],
    ),
]


def read(record: Record, folder: Path) -> Pair:
    path = folder / "pairs.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (pair,) = Reader(path, name=path.name)
    assert isinstance(pair, Pair)
    return pair


def encoded(pair: Pair) -> tuple[Tokenizer, EncodedPair]:
    tokenizer = train_tokenizer(texts_of([pair]), vocab_size=300, context=128)
    (found,), _ = encode_pairs([pair], tokenizer, context=128)
    return tokenizer, found


def policy(tokenizer: Tokenizer, seed: int) -> CausalModel:
    torch.manual_seed(seed)
    shape = TinyModel(hidden_size=16, layers=2, heads=2, context=128)
    return make_tiny(shape, tokenizer).eval()


def by_hand(
    model: CausalModel, tokenizer: Tokenizer, prompt: str, answer: list[str]
) -> tuple[float, int]:
    """Texts in turn, the policy's and the human's, each tokenised by itself; sum and count."""
    pieces = tokenizer([prompt, *answer], add_special_tokens=False, verbose=False)["input_ids"]
    ids = [token for piece in pieces for token in piece]
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    logprobs = logits.double().log_softmax(-1)
    total, count, at = 0.0, 0, len(pieces[0])
    for number, piece in enumerate(pieces[1:]):
        if number % 2 == 0:
            places = range(at, at + len(piece))
            total += sum(float(logprobs[place - 1, ids[place]]) for place in places)
            count += len(piece)
        at += len(piece)
    return total, count


@pytest.mark.parametrize(("record", "prompt", "chosen", "rejected"), TEXTS)
def test_the_judge_counts_what_the_answer_adds_and_no_token_of_the_prompt(
    record: Record, prompt: str, chosen: list[str], rejected: list[str], tmp_path: Path
) -> None:
    pair = read(record, tmp_path)
    tokenizer, found = encoded(pair)
    scores: list[Scores] = []
    for seed in (1, 2):
        model = policy(tokenizer, seed)
        scores.append(score(model, [found], pad=pad_of(tokenizer)))
        for side, answer in enumerate((chosen, rejected)):
            total, count = by_hand(model, tokenizer, prompt, answer)
            assert float(scores[-1].sums[side]) == pytest.approx(total, abs=1e-4)
            assert float(scores[-1].means[side]) == pytest.approx(total / count, abs=1e-5)
    figures = compare(scores[0], scores[1], ["task"])
    sums = [[float(side) for side in one.sums] for one in scores]
    gap = (sums[1][0] - sums[0][0]) - (sums[1][1] - sums[0][1])
    assert figures["margin"] == pytest.approx(gap, abs=1e-4)


@pytest.mark.parametrize(("record", "prompt", "chosen", "rejected"), TEXTS)
def test_the_first_loss_of_dpo_is_that_of_the_answers_alone(
    record: Record, prompt: str, chosen: list[str], rejected: list[str], tmp_path: Path
) -> None:
    tokenizer, found = encoded(read(record, tmp_path))
    model, other = policy(tokenizer, 1), policy(tokenizer, 2)
    mine, theirs = (
        [by_hand(one, tokenizer, prompt, answer) for answer in (chosen, rejected)]
        for one in (model, other)
    )
    gap = (mine[0][0] - theirs[0][0]) - (mine[1][0] - theirs[1][0])
    expected = math.log1p(math.exp(-0.5 * gap)) + 2.0 * -mine[0][0] / mine[0][1]
    recipe = Dpo(algorithm="dpo", beta=0.5, chosen_nll_weight=2.0)
    pad = pad_of(tokenizer)
    learner = DpoLearner(model, make_optimizer(model.parameters()), recipe, pad)
    reference = AnswerLogProbs(*score(other, [found], pad=pad).sums)
    figures = learner.step(0, [found], reference)
    assert figures.margin == pytest.approx(gap, abs=1e-4)
    assert figures.loss == pytest.approx(expected, abs=1e-4)
