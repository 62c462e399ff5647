"""The locked wheels, fetched once by this machine's pip, for builds that see no network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from training.image.errors import CannotCheck

HERE = Path(__file__).parent
LOCKS = ("requirements.lock", "torch-cpu.lock")


def fetch(folder: Path) -> None:
    """Fetch what the folder lacks; pip holds each to its hash.

    Raises:
        CannotCheck: an index lacks one, or none is reachable.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--require-hashes", "--disable-pip-version-check"]
    command += [f"--dest={folder}", f"--find-links={folder}"]
    command += [f"--requirement={HERE / lock}" for lock in LOCKS]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode:
        errors = [line for line in said.stderr.splitlines() if line.startswith("ERROR")]
        raise CannotCheck(
            f"the wheels can't be fetched: {(errors or ['pip said nothing'])[-1]}; torch for CPUs "
            "is in PyTorch's own index: name it in PIP_EXTRA_INDEX_URL"
        )
