"""A disk that fails, or a process that dies, at the n-th thing written."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

Effect = Callable[..., Any]
_EFFECTS = ((os, "fsync"), (os, "rename"), (os, "replace"), (os, "mkdir"), (Path, "write_bytes"))


@contextmanager
def before_effect(number: int, act: Callable[[], None]) -> Iterator[list[int]]:
    """Call `act` before the n-th effect on the disk, counted from 1; how many there were."""
    seen = [0]

    def counted(effect: Effect) -> Effect:
        def call(*arguments: Any, **options: Any) -> Any:
            seen[0] += 1
            if seen[0] == number:
                act()
            return effect(*arguments, **options)

        return call

    system = mock.patch.multiple(os, **_counted(os, counted))
    paths = mock.patch.multiple(Path, **_counted(Path, counted))
    with system, paths:
        yield seen


def _counted(owner: Any, counted: Callable[[Effect], Effect]) -> dict[str, Effect]:
    return {name: counted(getattr(owner, name)) for of, name in _EFFECTS if of is owner}


def killed_at(number: int, work: Callable[[], object]) -> bool:
    """Do the work in a process that is killed before its n-th effect; whether it lived."""
    child = os.fork()
    if child == 0:
        with before_effect(number, lambda: os.kill(os.getpid(), signal.SIGKILL)):
            work()
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0
