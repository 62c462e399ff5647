"""What logic is given: the ledger, the ports, and settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lambdas.ledger.ledger import Ledger
    from lambdas.ports import Clock, Executions, Objects, Runner


@dataclass(frozen=True)
class ControlPlane:
    """One deployed control plane, as its functions and the operator's tool see it."""

    ledger: Ledger
    objects: Objects
    executions: Executions
    runner: Runner
    clock: Clock
    workspace_root: str
    progress_interval_s: float
    at_once: int = 16
    """Calls that may be under way side by side, where there are many of one kind."""
