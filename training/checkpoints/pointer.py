"""`newest`: a hint to the last checkpoint, swapped by rename and fenced by the attempt."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field

from contracts.errors import AttemptFenced, ContractBroken
from contracts.model import Stored
from contracts.names import Digest
from training.checkpoints import durable

POINTER = "newest"


class Pointer(Stored):
    """Which checkpoint was completed last."""

    attempt: int = Field(ge=1)
    step: int = Field(ge=0)
    manifest: Digest

    @classmethod
    def read(cls, root: Path) -> tuple[Self | None, str]:
        """Read the pointer of a series.

        Returns:
            The pointer or None, and why there is none although the file exists.
        """
        path = root / POINTER
        try:
            return cls.from_bytes(path.read_bytes(), where=str(path)), ""
        except FileNotFoundError:
            return None, ""
        except (ContractBroken, OSError) as error:
            return None, f"the pointer cannot be used: {error}"

    def swap(self, root: Path) -> None:
        """Make this the series' pointer.

        Raises:
            AttemptFenced: a newer attempt has taken the series over.
        """
        newer = newer_attempt(root, self.attempt)
        if newer:
            raise AttemptFenced(
                f"attempt {self.attempt} may not move the pointer of {root}: "
                f"attempt {newer} has taken over"
            )
        durable.swap(root / POINTER, self.to_bytes(), writer=str(self.attempt))


def newer_attempt(root: Path, attempt: int) -> int | None:
    """The newest attempt after `attempt` that has left a trace in the series, if any."""
    found, _ = Pointer.read(root)
    traces = [int(path.name) for path in root.iterdir() if path.name.isdecimal()]
    if found is not None:
        traces.append(found.attempt)
    return max((trace for trace in traces if trace > attempt), default=None)
