"""What checking an image needs of a machine, and how to get what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable

_TOOLS = {
    "buildah": "builds and runs the image without a daemon: `apt-get install buildah`",
    "debootstrap": "makes the base that stands in for Ray's: `apt-get install debootstrap`",
}
_PYTHON = (3, 11)


def missing(
    which: Callable[[str], str | None] = shutil.which,
    *,
    uid: int | None = None,
    system: str = platform.system(),
    machine: str = platform.machine(),
    python: tuple[int, int] = sys.version_info[:2],
) -> list[str]:
    """One sentence for each thing that this machine lacks."""
    found = []
    if (system, machine) != ("Linux", "x86_64"):
        found.append(f"the image is for Linux on x86_64, this machine is {system} on {machine}")
    found += [f"{tool} is missing; it {why}" for tool, why in _TOOLS.items() if not which(tool)]
    if (os.getuid() if uid is None else uid) != 0:
        found.append("debootstrap and buildah's chroot isolation need root: use sudo")
    if python != _PYTHON:
        found.append(f"the wheels are fetched by Python 3.11, this is {python[0]}.{python[1]}")
    return found
