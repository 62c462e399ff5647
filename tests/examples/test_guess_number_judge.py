"""The judge is a stranger's script, so it is run as one, on a policy whose play is known."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from contracts.pipeline import TinyModel
from training.environments.guess_number import GuessNumber
from training.models.folders import save_policy
from training.models.tiny import make_tiny
from training.models.tokenizer import train_tokenizer

FOLDER = Path(__file__).parents[2] / "examples" / "guess-number"
WORDS = [*map(str, range(1, 17)), "higher", "lower", "bad", "1-16"] * 3


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    spec = importlib.util.spec_from_file_location("guess_number_judge", FOLDER / "judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that says `7` or `11`, one as often as the other, whatever it hears."""
    folder: Path = tmp_path_factory.mktemp("policy")
    tokenizer = train_tokenizer(WORDS, vocab_size=400, context=64)
    torch.manual_seed(0)
    shape = TinyModel(hidden_size=16, layers=1, heads=2, context=64)
    model = make_tiny(shape, tokenizer)
    config: Qwen3Config = model.config
    config.tie_word_embeddings = False
    told = Qwen3ForCausalLM(config)
    ids = tokenizer(["<|assistant|>", "7", "11"], add_special_tokens=False, verbose=False)
    opening, *numbers = (one[0] for one in ids["input_ids"])
    says = torch.zeros(len(tokenizer), 16)
    # The last layer's input is the embedding alone: attention and the block's own sum add nothing.
    for layer in told.model.layers:
        layer.self_attn.o_proj.weight.data.zero_()
        layer.mlp.down_proj.weight.data.zero_()
    told.model.embed_tokens.weight.data.zero_()
    told.model.embed_tokens.weight.data[:, 0] = 1
    told.model.embed_tokens.weight.data[opening] = torch.eye(16)[1]
    for number in numbers:
        says[number, 1] = 50
    says[tokenizer.eos_token_id, 0] = 50
    told.lm_head.weight.data = says
    save_policy(folder, told, tokenizer)
    return folder


def run(policy: Path, *more: str) -> dict[str, object]:
    command = [sys.executable, FOLDER / "judge.py", policy, *more]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_it_prints_how_often_the_number_was_found_and_which_never_was(policy: Path) -> None:
    verdict = run(policy, "--games", "160")
    assert verdict["games"] == 160
    found = verdict["found"]
    assert isinstance(found, int)
    # Five throws of a coin find either number in 31 of 32 games, and there are ten of each.
    assert 16 <= found <= 20
    assert verdict["success_rate"] == found / 160
    assert verdict["never_found"] == [n for n in range(1, 17) if n not in {7, 11}]


def test_greedily_it_always_says_the_same(policy: Path) -> None:
    verdict = run(policy, "--games", "32", "--greedy")
    assert verdict["found"] == 2


def test_it_answers_guesses_as_the_environment_does(judge: ModuleType) -> None:
    environment = GuessNumber()
    for secret in range(1, 17):
        for word in (*map(str, range(18)), "01", "-3", "1 ", "eight", "", "١", "1.0", "00007"):
            opening, _ = environment.reset(seed=0, task=secret - 1)
            step = environment.step(word)
            game = judge.Game(secret)
            assert game.said == [{"role": "user", "content": opening}]
            game.take(word)
            assert game.found == step.info["success"]
            if not game.found:
                assert game.said[-1] == {"role": "user", "content": step.observation}
