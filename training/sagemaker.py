"""SageMaker's folders, for containers whose starter set its variables.

On HyperPod nobody sets them, and nothing happens: a job's folders are those of its spec.

| variable | what a job does with the folder |
|---|---|
| `SM_CHECKPOINT_DIR` | keeps its checkpoints there, not in the run's workspace |
| `SM_MODEL_DIR` | copies the policy of the last round there, as `from_pretrained` loads it |
| `SM_OUTPUT_DATA_DIR` | copies `result.json` there |
| `SM_OUTPUT_DIR` | writes the failure's line to `failure`, which SageMaker shows |

What phases hand on stays in the workspace: other jobs look for it there. Hyperparameters and
input channels are not read: the job's spec says both.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from contracts.artifact import MANIFEST
from contracts.result import Failure, PhaseResult

logger = logging.getLogger(__name__)
FAILURE_MAX = 1024
"""Bytes of `failure` that SageMaker shows."""


class SageMaker:
    """The folders that are there; a folder that can't be written to fails no job."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ

    @property
    def checkpoints(self) -> Path | None:
        """Where checkpoints shall lie; None: in the workspace."""
        return self._folder("SM_CHECKPOINT_DIR")

    def keep_model(self, policy: Path) -> None:
        """Copy a policy's folder, its manifest last."""
        folder = self._folder("SM_MODEL_DIR")
        if folder is None:
            return
        with _forgiven(f"copy the policy to {folder}"):
            shutil.copytree(
                policy, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(MANIFEST)
            )
            shutil.copy2(policy / MANIFEST, folder / MANIFEST)

    def keep_result(self, result: PhaseResult) -> None:
        """Copy the job's last word, and its failure as the line that SageMaker shows."""
        data, output = self._folder("SM_OUTPUT_DATA_DIR"), self._folder("SM_OUTPUT_DIR")
        if data is not None:
            _write(data / "result.json", result.to_bytes())
        if output is not None and result.failure is not None:
            _write(output / "failure", _line(result.failure))

    def _folder(self, variable: str) -> Path | None:
        value = self._environ.get(variable)
        return Path(value) if value else None


def _line(failure: Failure) -> bytes:
    line = f"{failure.error}: {failure.cause}".encode()[:FAILURE_MAX]
    return line.decode(errors="ignore").encode()


def _write(path: Path, data: bytes) -> None:
    with _forgiven(f"write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@contextmanager
def _forgiven(doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        logger.warning("could not %s: %s", doing, error)
