"""Whether an image can be the base: run by its own Python while the image is built."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

PYTHON = (3, 11)
"""The locks hold wheels of this Python."""
MACHINE = "x86_64"


def faults(
    base: str, ray_locked: str, *, ray_there: str | None, python: tuple[int, int], machine: str
) -> list[str]:
    """What keeps an image from being the base; each with its remedy.

    Args:
        base: how it was named.
        ray_locked: version that the lock has.
        ray_there: version that it has; None: none.
        python: version of its Python.
        machine: its processor's name.
    """
    found = []
    if "@sha256:" not in base:
        found.append(f"BASE is {base}, which may change: name it by its digest, …@sha256:…")
    if python != PYTHON:
        found.append(
            f"the base has Python {python[0]}.{python[1]}, the locks are for "
            f"{PYTHON[0]}.{PYTHON[1]}: take a base of the py{PYTHON[0]}{PYTHON[1]} kind"
        )
    if machine != MACHINE:
        found.append(f"the base is for {machine}, the locks are for {MACHINE}")
    if ray_there != ray_locked:
        there = f"Ray {ray_there}" if ray_there else "no Ray"
        found.append(f"the base has {there}, the lock has {ray_locked}: take that one's image")
    return found


def locked(name: str, lock: str) -> str:
    """The version that a lock has of a package."""
    lines = (line.partition(" ")[0].partition("==") for line in lock.splitlines())
    return next((version for package, _, version in lines if package == name), "")


def main(arguments: Sequence[str]) -> int:
    """Judge the image that this runs in; arguments: the base's name, the lock's path."""
    base, lock = arguments
    try:
        there: str | None = importlib.metadata.version("ray")
    except importlib.metadata.PackageNotFoundError:
        there = None
    found = faults(
        base,
        locked("ray", Path(lock).read_text()),
        ray_there=there,
        python=sys.version_info[:2],
        machine=platform.machine(),
    )
    for fault in found:
        sys.stderr.write(f"this image can't be the base: {fault}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
