"""Saying what is being done: a line a step, and on a terminal a spinner at the last one."""

from __future__ import annotations

import time

from rich.console import Console
from rich.status import Status
from rich.text import Text


class Steps:
    """Lines with the seconds since the process began."""

    def __init__(self, console: Console, began: float) -> None:
        """Speak on `console`; `began` is in seconds since the epoch."""
        self._console, self._began = console, began
        self._status: Status | None = None

    @property
    def seconds(self) -> float:
        """Since the process began."""
        return time.time() - self._began

    def say(self, step: str) -> None:
        """A step has begun, or is done."""
        line = f"{self.seconds:6.1f} s  {step}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        if not self._console.is_terminal:
            return
        said = Text(step, style="dim")
        if self._status is None:
            self._status = self._console.status(said, spinner="dots", spinner_style="cyan")
            self._status.start()
        self._status.update(said)

    def pause(self) -> None:
        """Take the spinner away, as before something else is drawn."""
        if self._status is not None:
            self._status.stop()
            self._status = None
