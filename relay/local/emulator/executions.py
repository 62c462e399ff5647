"""Executions that run in this process, and how to end what they are waiting for.

MiniStack walks a state machine in one thread an execution. That thread sleeps in waits and
retries and blocks on task tokens; an execution that is stopped has to reach it there.
"""

import threading
from contextvars import ContextVar
from dataclasses import dataclass, field

from ministack.services import stepfunctions

RUNNING = "RUNNING"


class Interrupted(stepfunctions._ExecutionError):  # type: ignore[misc]
    """The execution was ended from outside while its thread waited; nothing may handle it."""

    def __init__(self) -> None:
        super().__init__("Relay.Interrupted", "The execution was ended from outside")


@dataclass
class Running:
    """One execution whose thread is alive here."""

    arn: str = ""
    ended: threading.Event = field(default_factory=threading.Event)
    waiting_for: set[threading.Event] = field(default_factory=set)

    def end(self) -> None:
        """Wake the thread wherever it waits; it raises `Interrupted` there."""
        self.ended.set()
        for event in list(self.waiting_for):
            event.set()

    def check(self) -> None:
        """Raise `Interrupted` if the execution has been ended."""
        if self.ended.is_set():
            raise Interrupted

    def sleep(self, seconds: float) -> None:
        """Sleep, but no longer than the execution lives."""
        self.ended.wait(seconds)
        self.check()


_running: dict[str, Running] = {}
_current: ContextVar[Running | None] = ContextVar("current_execution", default=None)


def current() -> Running:
    """The execution of this thread; a fresh one where there is none (synchronous calls)."""
    return _current.get() or Running()


def enter(execution_arn: str) -> Running:
    """Note that this thread now runs the execution."""
    running = _running.setdefault(execution_arn, Running(execution_arn))
    _current.set(running)
    return running


def leave(execution_arn: str) -> None:
    """Note that the execution's thread is done."""
    _running.pop(execution_arn, None)


def end(execution_arn: str) -> None:
    """End the execution's waiting, if it runs here."""
    if running := _running.get(execution_arn):
        running.end()
