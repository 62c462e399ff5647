"""Problems as a person reads them: the same one counted together, the first twenty shown."""

from __future__ import annotations

import re

from contracts.limits import PROBLEMS_SHOWN_MAX
from contracts.result import Problem
from trajectories.refusal import speakable

_NUMBERS = re.compile(r"\d+")
_Key = tuple[str, str, str]


class Problems:
    """Problems of one file, in bounded memory.

    Attributes:
        count: all problems, also those of groups that are not shown.
    """

    def __init__(self) -> None:
        self.count = 0
        self._groups: dict[_Key, Problem] = {}
        self._counts: dict[_Key, int] = {}

    def add(self, line: int, field: str, problem: str, remedy: str) -> None:
        """Count one. It is the same as another when only numbers in its words differ.

        Args:
            line: 1-based line or place; 0 for the whole file.
            field: path in the record.
            problem: what is wrong.
            remedy: what to do.
        """
        self.count += 1
        # A record's own keys may hold what UTF-8 cannot, and reports are UTF-8.
        field, problem = speakable(field), speakable(problem)
        key = (_NUMBERS.sub("#", field), _NUMBERS.sub("#", problem), remedy)
        if key in self._counts:
            self._counts[key] += 1
        elif len(self._groups) < PROBLEMS_SHOWN_MAX:
            made = Problem(line=line, field=field, problem=problem, remedy=remedy)
            self._groups[key], self._counts[key] = made, 1

    @property
    def shown(self) -> tuple[Problem, ...]:
        """The first groups, each by its first record, with how many are like it."""
        return tuple(
            problem.model_copy(update={"count": self._counts[key]})
            for key, problem in self._groups.items()
        )
