"""The judge is a stranger's script, so it is run as one."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from whole_files import read_file

from trajectories.pair import Pair
from trajectories.splitting import is_held_out

FOLDER = Path(__file__).parents[2] / "examples" / "preferences"
PAIRS = FOLDER / "pairs.jsonl"
TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<|pad|>", "<|user|>", "<|assistant|>", "<|end|>"]
SHARE = 0.05


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    spec = importlib.util.spec_from_file_location("preferences_judge", FOLDER / "judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pairs() -> tuple[Pair, ...]:
    return read_file(PAIRS, name=PAIRS.name).pairs


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory, pairs: tuple[Pair, ...]) -> Path:
    """A tiny untrained model with its tokenizer and chat template, saved."""
    folder: Path = tmp_path_factory.mktemp("policy")
    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokens.train_from_iterator([pair.chosen[0].content for pair in pairs], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, pad_token=SPECIAL[0])
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=400,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def test_it_holds_out_exactly_what_training_holds_out(
    judge: ModuleType, pairs: tuple[Pair, ...]
) -> None:
    for pair in pairs:
        prompt = [{"role": turn.role, "content": turn.content} for turn in pair.prompt]
        assert judge.is_held_out(prompt, 0.25) == is_held_out(pair, 0.25)


def test_its_score_is_the_answers_likelihood_as_transformers_computes_it(
    judge: ModuleType, policy: Path, pairs: tuple[Pair, ...]
) -> None:
    model = judge.AutoModelForCausalLM.from_pretrained(policy).eval()
    tokenizer = judge.AutoTokenizer.from_pretrained(policy)
    prompt = [turn.model_dump() for turn in pairs[0].prompt]
    answer = [turn.model_dump() for turn in pairs[0].chosen]
    start = tokenizer(f"<|user|>{prompt[0]['content']}<|end|><|assistant|>")["input_ids"]
    end = tokenizer(f"{answer[0]['content']}<|end|>")["input_ids"]
    labels = torch.tensor([[-100] * len(start) + end])
    with torch.inference_mode():
        loss = model(input_ids=torch.tensor([start + end]), labels=labels).loss
    score = judge.log_probability(model, tokenizer, prompt, answer)
    assert score == pytest.approx(-loss.item(), rel=1e-4)


def test_it_prints_the_accuracy_of_a_folder_over_the_held_out_pairs(
    policy: Path, pairs: tuple[Pair, ...]
) -> None:
    command = [sys.executable, FOLDER / "judge.py", policy, PAIRS, "--held-out-share", str(SHARE)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    verdict = json.loads(done.stdout)
    assert verdict["pairs"] == sum(is_held_out(pair, SHARE) for pair in pairs)
    assert verdict["accuracy"] == pytest.approx(verdict["right"] / verdict["pairs"])
    assert 0 < verdict["right"] < verdict["pairs"]


def test_a_share_that_holds_nothing_out_is_said_to(judge: ModuleType, policy: Path) -> None:
    with pytest.raises(SystemExit, match="no held-out pair"):
        judge.judge(policy, PAIRS, 0.0)
