"""Playing with a cache that carries across turns, against transformers' own `generate`.

    python -m benchmarks.generation [--threads 1] [--repeats 7] [--episodes 128]

Both sides play the same scripted game with the same policy, that of examples/guess-number. Every
answer has the same number of sampled tokens, as the end token is never likely, and every
conversation begins with words of its own, so that no beginning can be shared. Both sample from
the whole vocabulary at temperature 1, both go through the chat template, the environment and back
to text; ours keeps log-probabilities besides. `generate` has a cache within a turn, and reads the
conversation again in each.

The two take turns, so that a busy machine disturbs both alike; with one thread the time is that of
the processor, not of the wall. The ratio is that of the best times, which other work on the
machine touches least; the median of neighbours' ratios and their spread are told as well. The
targets hold for one turn, and for six turns of an agent, which hears more than it says; two
further settings show what becomes of the ratio when it hears less. Exits with 1 when a target is
missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from contracts.pipeline import TinyModel
from training.environments.interface import Step
from training.models.protocols import CausalModel, Tokenizer
from training.models.tiny import make_tiny
from training.models.tokenizer import train_tokenizer
from training.rollouts.conversation import Conversation
from training.rollouts.playing import play
from training.rollouts.seeds import EpisodePlan, plan_episodes

CONTEXT = 512
NEVER = -1e9


@dataclass(frozen=True)
class Setting:
    """A scripted game.

    Attributes:
        name: for the table.
        turns: of the policy.
        opening: tokens of the first user message, at least; half as many again at most.
        reply: tokens of the following ones.
        sampled: tokens of an answer.
        target: least ratio that is asked for; 0 for none.
    """

    name: str
    turns: int
    opening: int
    reply: int
    sampled: int
    target: float = 0.0


SETTINGS = (
    Setting("one turn", 1, 16, 0, 64, 1.5),
    Setting("six turns", 6, 16, 40, 8, 3.0),
    Setting("six turns, equal shares", 6, 16, 16, 16),
    Setting("six turns, few words", 6, 8, 4, 4),
)


class Scripted:
    """Says the same number of words whatever it hears, for a fixed number of turns."""

    system = ""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.max_turns = setting.turns
        self._turn = 0
        self._task = 0

    def tasks(self) -> int:
        """As many as there may be rows, so that no two conversations begin alike."""
        return 4096

    def reset(self, *, seed: int, task: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin with words that depend on the task in length and content."""
        self._turn, self._task = 0, task or 0
        words = self._setting.opening + self._task % (self._setting.opening // 2 + 1)
        return self._words(words), {"task": self._task}

    def step(self, text: str) -> Step:
        """Go on, or end."""
        self._turn += 1
        over = self._turn == self._setting.turns
        return Step(self._words(self._setting.reply), 0.0, terminated=over)

    def close(self) -> None:
        """Nothing to do."""

    def _words(self, count: int) -> str:
        first = self._task * 31 + self._turn * 7
        return "".join(LETTERS[(first + place * place) % len(LETTERS)] for place in range(count))


LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Side(NamedTuple):
    """One way to play."""

    name: str
    play: Callable[[Setting, Sequence[EpisodePlan]], int]


def policy() -> tuple[CausalModel, Tokenizer]:
    """The policy of examples/guess-number, random, which never ends a turn by itself."""
    tokenizer = train_tokenizer([], vocab_size=300, context=CONTEXT)
    torch.manual_seed(0)
    shape = TinyModel(vocab_size=300, hidden_size=64, layers=2, heads=4, context=CONTEXT)
    model = make_tiny(shape, tokenizer)
    head = model.get_output_embeddings()
    head.bias = torch.nn.Parameter(torch.zeros(len(tokenizer)))
    head.bias.data[tokenizer.eos_token_id] = NEVER
    for weight in model.parameters():
        weight.requires_grad_(False)
    return model, tokenizer


def ours(model: CausalModel, tokenizer: Tokenizer) -> Side:
    """`training.rollouts.playing.play`."""

    def run(setting: Setting, plans: Sequence[EpisodePlan]) -> int:
        episodes = play(
            model,
            tokenizer,
            lambda: Scripted(setting),
            plans,
            temperature=1.0,
            max_turns=setting.turns,
            max_new_tokens=setting.sampled,
            context=CONTEXT,
        )
        return sum(sum(episode.actions) for episode in episodes)

    return Side("ours", run)


def theirs(model: CausalModel, tokenizer: Tokenizer) -> Side:
    """`generate`, turn by turn, rows padded on the left."""
    generating: Any = model

    def say(setting: Setting, histories: list[list[int]]) -> list[list[int]]:
        width = max(map(len, histories))
        ids = torch.tensor([[0] * (width - len(one)) + one for one in histories])
        mask = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in histories])
        with torch.inference_mode():
            made = generating.generate(
                input_ids=ids,
                attention_mask=mask,
                do_sample=True,
                temperature=1.0,
                top_k=0,
                top_p=1.0,
                max_new_tokens=setting.sampled,
                pad_token_id=0,
            )
        answers: list[list[int]] = made[:, width:].tolist()
        return answers

    def run(setting: Setting, plans: Sequence[EpisodePlan]) -> int:
        conversation = Conversation(tokenizer)
        games = [Scripted(setting) for _ in plans]
        opened = [
            game.reset(seed=plan.seed, task=plan.task)[0]
            for game, plan in zip(games, plans, strict=True)
        ]
        histories = [list(conversation.opening("", text)) for text in opened]
        sampled = 0
        for _ in range(setting.turns):
            for history, game, answer in zip(
                histories, games, say(setting, histories), strict=True
            ):
                sampled += len(answer)
                step = game.step(conversation.text(tuple(answer)))
                history += [*answer, *conversation.reply(step.observation, ended=False)]
        return sampled

    return Side("generate", run)


def compare(setting: Setting, sides: Sequence[Side], episodes: int, repeats: int) -> float:
    """Let the sides take turns; print a line; the ratio of the best times."""
    plans = plan_episodes("benchmark", 1, "collect", count=episodes, tasks=4096, seed=0)
    seconds: dict[str, list[float]] = {side.name: [] for side in sides}
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    expected = episodes * setting.turns * setting.sampled
    for repeat in range(repeats + 1):
        for side in sides if repeat % 2 else sides[::-1]:
            begun = clock()
            sampled = side.play(setting, plans)
            if repeat:
                seconds[side.name].append(clock() - begun)
            if sampled != expected:
                raise RuntimeError(f"{side.name} sampled {sampled} tokens, not {expected}")
    ratios = [t / o for o, t in zip(seconds["ours"], seconds["generate"], strict=True)]
    best = {name: min(values) for name, values in seconds.items()}
    cells = [
        f"{setting.name:24}",
        f"{expected / best['ours']:9,.0f}",
        f"{expected / best['generate']:9,.0f}",
        f"{best['generate'] / best['ours']:6.2f}",
        f"{statistics.median(ratios):7.2f}",
        f"{min(ratios):5.2f} - {max(ratios):5.2f}",
        f"{setting.target or '-':>6}",
    ]
    print(" | ".join(cells))
    return best["generate"] / best["ours"]


def main() -> int:
    """Print the table; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description="Playing, against transformers' generate.")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--episodes", type=int, default=128)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model, tokenizer = policy()
    sides = (ours(model, tokenizer), theirs(model, tokenizer))
    print(f"{options.episodes} conversations, {options.threads} thread(s); sampled tokens a second")
    print(f"{'':24} |      ours |  generate |  best |  median | spread        | target")
    missed = [
        setting.name
        for setting in SETTINGS
        if compare(setting, sides, options.episodes, options.repeats) < setting.target
    ]
    print(f"missed: {', '.join(missed)}" if missed else "every target is met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
