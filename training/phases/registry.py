"""Every phase by name, as what the driver prepares and what then runs in Ray."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from contracts.names import Phase
from training.assignment import Assignment
from training.events import Materials, Work
from training.objects import Objects
from training.phases import collect, evaluate, optimize

Prepare = Callable[[Assignment, Objects], Materials]


class Steps(NamedTuple):
    """A phase's two halves."""

    prepare: Prepare
    work: Work


PHASES: dict[Phase, Steps] = {
    "collect": Steps(collect.prepare, collect.work),
    "optimize": Steps(optimize.prepare, optimize.work),
    "evaluate": Steps(evaluate.prepare, evaluate.work),
}
