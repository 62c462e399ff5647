"""Judge a published policy without Relay: plain transformers, nothing else of this project.

    python judge.py FOLDER [--games 512] [--greedy] [--seed 0]

FOLDER is what `from_pretrained` loads. Plays games of guess-a-number with it, five turns for a
number from 1 to 16, and prints as one JSON object in how many it found the number.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

NUMBERS = 16
TURNS = 5
TOKENS_A_TURN = 4


@dataclass
class Game:
    """A hidden number, and what was said so far."""

    secret: int
    said: list[dict[str, str]] = field(
        default_factory=lambda: [{"role": "user", "content": f"1-{NUMBERS}"}]
    )
    found: bool = False

    def take(self, word: str) -> None:
        """Answer a guess."""
        guess = int(word) if re.fullmatch(r"[1-9][0-9]?", word) else 0
        self.found = guess == self.secret
        answer = "higher" if guess < self.secret else "lower"
        if not 1 <= guess <= NUMBERS:
            answer = "bad"
        self.said += [{"role": "assistant", "content": word}, {"role": "user", "content": answer}]


@torch.inference_mode()
def guesses(model: Any, tokenizer: Any, games: list[Game], *, greedy: bool) -> list[str]:  # noqa: ANN401
    """What the policy says next in each game."""
    prompts = [
        tokenizer.apply_chat_template(game.said, tokenize=False, add_generation_prompt=True)
        for game in games
    ]
    batch = tokenizer(prompts, add_special_tokens=False, padding=True, return_tensors="pt")
    chance = {"do_sample": False} if greedy else {"do_sample": True, "temperature": 1.0, "top_k": 0}
    ids = model.generate(
        input_ids=batch["input_ids"],
        attention_mask=batch["attention_mask"],
        max_new_tokens=TOKENS_A_TURN,
        pad_token_id=tokenizer.pad_token_id,
        **chance,
    )
    words = tokenizer.batch_decode(ids[:, batch["input_ids"].shape[1] :])
    return [word.split(tokenizer.eos_token)[0] for word in words]


def judge(folder: Path, count: int, *, greedy: bool, seed: int) -> dict[str, Any]:
    """Play, every number as often as every other."""
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    torch.manual_seed(seed)
    games = [Game(1 + number % NUMBERS) for number in range(count)]
    for _ in range(TURNS):
        going_on = [game for game in games if not game.found]
        if going_on:
            words = guesses(model, tokenizer, going_on, greedy=greedy)
            for game, word in zip(going_on, words, strict=True):
                game.take(word)
    found = sum(game.found for game in games)
    lost = {game.secret for game in games} - {game.secret for game in games if game.found}
    return {
        "success_rate": found / count,
        "found": found,
        "games": count,
        "never_found": sorted(lost),
    }


def main() -> None:
    """Read the command line and print the verdict."""
    parser = argparse.ArgumentParser(description="How often a policy finds the hidden number.")
    parser.add_argument("folder", type=Path, help="the policy: a folder for from_pretrained")
    parser.add_argument("--games", type=int, default=512, help="how many to play [512]")
    parser.add_argument("--greedy", action="store_true", help="always the likeliest word")
    parser.add_argument("--seed", type=int, default=0, help="of the sampling [0]")
    chosen = parser.parse_args()
    verdict = judge(chosen.folder, chosen.games, greedy=chosen.greedy, seed=chosen.seed)
    print(json.dumps(verdict))


if __name__ == "__main__":
    main()
