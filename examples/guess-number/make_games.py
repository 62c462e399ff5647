"""Write games.jsonl: logged games of guess-a-number, played by players of mixed skill.

A number from 1 to 16 is to be found in five turns. Of the games a bit more than a third is
played by somebody who guesses anything, a quarter by somebody who only guesses what is still
possible, and the rest by somebody who halves what is left but slips at every fourth turn. All of
them say something now and then that is no guess at all. The same script gives the same bytes on
every machine.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

GAMES = 2960
NUMBERS = 16
TURNS = 5
TURN_COST = 0.05
BAD_FORMAT_COST = 0.1
BAD_SHARE = 0.02
SLIP_SHARE = 0.25
BAD_WORDS = ("?", "no", "0", "17", "up", "8.")
HERE = Path(__file__).parent


class Picker:
    """Picks by digest: unlike `random`, alike in every version of Python."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._picks = 0

    def number(self, below: int) -> int:
        """The next number within 0..below-1."""
        self._picks += 1
        text = f"{self._seed}/{self._picks}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") % below

    def happens(self, share: float) -> bool:
        """Whether something of this probability comes to pass."""
        return self.number(10_000) < share * 10_000

    def one(self, items: Sequence[Any]) -> Any:  # noqa: ANN401 - players, words or numbers
        """The next item."""
        return items[self.number(len(items))]


Player = Callable[[Picker, int, int], int]
"""Chooses a number, given the least and the greatest that are still possible."""


def uniform(pick: Picker, low: int, high: int) -> int:
    """Any number, whatever was said."""
    return 1 + pick.number(NUMBERS)


def consistent(pick: Picker, low: int, high: int) -> int:
    """Any number that is still possible."""
    return low + pick.number(high - low + 1)


def halving(pick: Picker, low: int, high: int) -> int:
    """The middle of what is possible; at times any number."""
    return uniform(pick, low, high) if pick.happens(SLIP_SHARE) else (low + high) // 2


PLAYERS: dict[str, Player] = {"uniform": uniform, "consistent": consistent, "halving": halving}
MIX = ("uniform",) * 7 + ("consistent",) * 5 + ("halving",) * 8


def play(pick: Picker, player: Player, secret: int) -> tuple[list[dict[str, str]], float]:
    """One game: what was said, and the sum of its rewards."""
    said = [{"role": "user", "content": f"1-{NUMBERS}"}]
    reward, low, high = 0.0, 1, NUMBERS
    for turn in range(TURNS):
        bad = pick.happens(BAD_SHARE)
        word = pick.one(BAD_WORDS) if bad else str(player(pick, low, high))
        said.append({"role": "assistant", "content": word})
        if word == str(secret):
            return said, round(reward + 1, 2)
        reward -= TURN_COST + BAD_FORMAT_COST * bad
        if turn == TURNS - 1:
            break
        if bad:
            answer = "bad"
        elif int(word) < secret:
            answer, low = "higher", max(low, int(word) + 1)
        else:
            answer, high = "lower", min(high, int(word) - 1)
        said.append({"role": "user", "content": answer})
    return said, round(reward, 2)


def make_games(count: int) -> list[dict[str, Any]]:
    """Games in the form of agents' logs; `task_id` is the hidden number less one."""
    pick = Picker("guess a number")
    trials: Counter[int] = Counter()
    games = []
    for number in range(count):
        task = number % NUMBERS
        said, reward = play(pick, PLAYERS[pick.one(MIX)], task + 1)
        games.append({"task_id": task, "trial": trials[task], "reward": reward, "traj": said})
        trials[task] += 1
    return games


def main() -> None:
    """Write games.jsonl beside this script."""
    games = make_games(GAMES)
    solved = sum(game["reward"] > 0 for game in games) / GAMES
    if solved > 0.65:  # noqa: PLR2004
        raise SystemExit(f"{solved:.3f} of the games are solved: too good to learn much from")
    lines = [json.dumps(game, separators=(",", ":")) for game in games]
    (HERE / "games.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    print(f"{GAMES} games, {solved:.3f} of them solved")


if __name__ == "__main__":
    main()
