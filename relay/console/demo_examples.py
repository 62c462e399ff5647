"""What the demonstration can show: examples of this checkout, each with its drop and its judge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from relay.console.checkout import CHECKOUT


class ExampleName(StrEnum):
    """The examples by name; their folders are called the same."""

    GUESS_NUMBER = "guess-number"
    PREFERENCES = "preferences"


@dataclass(frozen=True)
class Example:
    """An example.

    Attributes:
        name: which.
        drop: the name of the file that is dropped.
        judged_with_drop: whether its judge reads the drop.
        chance: success of guessing blindly, where the example plays.
        task: what a task of the game is called.
    """

    name: ExampleName
    drop: str
    judged_with_drop: bool = False
    chance: float | None = None
    task: str = "task"

    @property
    def plays(self) -> bool:
        """Whether it learns a game."""
        return self.chance is not None

    @property
    def folder(self) -> Path:
        """Where it is."""
        return CHECKOUT / "examples" / self.name.value

    @property
    def file(self) -> Path:
        """The file that is dropped."""
        return self.folder / self.drop

    def judging(self, policy: Path) -> list[Path]:
        """The arguments of `python` that judge a policy without Relay."""
        return [self.folder / "judge.py", policy, *([self.file] if self.judged_with_drop else [])]


EXAMPLES = {
    one.name: one
    for one in (
        Example(ExampleName.GUESS_NUMBER, "games.jsonl", chance=0.276, task="number"),
        Example(ExampleName.PREFERENCES, "pairs.jsonl", judged_with_drop=True),
    )
}
