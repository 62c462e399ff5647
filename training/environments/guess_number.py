"""Guess a number: a hidden one, and after each guess the word `higher` or `lower`."""

from __future__ import annotations

import random
import re
from typing import Any

from training.environments.interface import Step

TURN_COST = 0.05
BAD_FORMAT_COST = 0.1
NUMBERS_MIN = 2
NUMBERS_MAX = 999_999_999
_GUESS = re.compile(r"[1-9][0-9]{0,8}")


class GuessNumber:
    """A number from 1 to 16 is to be found in 5 turns.

    The texts are short, as every byte is a token or so to a small policy: the user says `1-16`,
    the assistant `8`, the user `higher`, `lower` or, when that was no number of the range, `bad`.
    A solved game gives 1; every other turn costs 0.05, one of a bad format 0.1 more. So a game's
    sum lies between -0.75 and 1. A game that is not solved in time is lost: it has ended by its
    own rules and nothing would follow.

    With 16 numbers and 5 turns a player that guesses evenly among all, whatever it was told,
    solves 27.6% (`chance`); halving the range solves every game (`optimum`), in 3.38 turns on
    average. The task is the hidden number less one.
    """

    system = ""

    def __init__(self, numbers: int = 16, turns: int = 5) -> None:
        """Fix the rules.

        Args:
            numbers: the range's upper end, at least 2.
            turns: guesses a game, at least 1.

        Raises:
            ValueError: one is out of range.
        """
        if not NUMBERS_MIN <= numbers <= NUMBERS_MAX:
            raise ValueError(f"numbers must be from {NUMBERS_MIN} to {NUMBERS_MAX}, not {numbers}")
        if turns < 1:
            raise ValueError(f"turns must be at least 1, not {turns}")
        self.max_turns = turns
        self._numbers = numbers
        self._secret = 0
        self._turns_left = 0

    def tasks(self) -> int:
        """As many as there are numbers to hide."""
        return self._numbers

    def reset(self, *, seed: int, task: int | None = None) -> tuple[str, dict[str, Any]]:
        """Hide a number: that of the task, or one drawn by the seed."""
        if task is None:
            task = random.Random(seed).randrange(self._numbers)  # noqa: S311 - a game, no secret
        if not 0 <= task < self._numbers:
            raise ValueError(f"task must be from 0 to {self._numbers - 1}, not {task}")
        self._secret = task + 1
        self._turns_left = self.max_turns
        return f"1-{self._numbers}", {"task": task}

    def step(self, text: str) -> Step:
        """Judge a guess."""
        if self._turns_left < 1:
            raise RuntimeError("the game is over; reset it first")
        self._turns_left -= 1
        guess = int(text) if _GUESS.fullmatch(text) else 0
        format_error = not 1 <= guess <= self._numbers
        success = guess == self._secret
        over = success or self._turns_left == 0
        if over:
            self._turns_left = 0
        return Step(
            observation=self._word(guess, format_error),
            reward=1.0 if success else -TURN_COST - BAD_FORMAT_COST * format_error,
            terminated=over,
            info={"format_error": format_error, "success": success},
        )

    def close(self) -> None:
        """There is nothing to let go of."""

    def _word(self, guess: int, format_error: bool) -> str:
        if format_error:
            return "bad"
        if guess == self._secret:
            return "yes"
        return "higher" if guess < self._secret else "lower"


def chance(numbers: int, turns: int) -> float:
    """Share of games that guessing evenly among all numbers, deaf to every answer, solves."""
    return 1 - (1 - 1 / numbers) ** turns


def optimum(numbers: int, turns: int) -> float:
    """Share of games that the best play solves.

    Each guess parts what is left in two, so `turns` guesses tell at most 2^turns - 1 numbers
    apart, and halving the range does.
    """
    return min(1.0, ((1 << turns) - 1) / numbers)
