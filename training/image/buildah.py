"""buildah, with chroot isolation and plain folders for storage: it needs no daemon, no overlay."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from training.image.errors import CannotCheck, ImageWrong


class Buildah:
    """Images and containers below one folder, apart from the machine's own."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._options = ["--root", str(folder / "store"), "--runroot", str(folder / "run")]
        self._options += ["--storage-driver", "vfs"]
        self._log = log

    def ask(self, *words: str) -> str:
        """Run a command of buildah; its answer.

        Raises:
            CannotCheck: buildah refuses; the reason is its own.
        """
        said = subprocess.run(self._command(words), capture_output=True, text=True, check=False)
        if said.returncode:
            raise CannotCheck(f"buildah {words[0]} failed: {_last_line(said.stderr)}")
        return said.stdout.strip()

    def run(
        self,
        container: str,
        command: Sequence[str],
        *,
        volumes: Mapping[Path, str],
        environment: Mapping[str, str],
    ) -> subprocess.Popen[bytes]:
        """Start a command in a container, as the user and with the variables of its image.

        Args:
            container: which.
            command: what.
            volumes: folders of this machine, and where they are seen.
            environment: variables besides the image's.
        """
        words = ["run", "--isolation", "chroot"]
        words += [f"--volume={folder}:{seen}:rw" for folder, seen in volumes.items()]
        words += [f"--env={name}={value}" for name, value in environment.items()]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._command([*words, container, "--", *command]), stdout=log, stderr=log
            )

    def build(self, words: Sequence[str]) -> None:
        """Build an image, its output in the log.

        Raises:
            ImageWrong: it can't be built.
        """
        command = self._command(["build", "--isolation", "chroot", "--pull-never", *words])
        with self._log.open("ab") as log:
            code = subprocess.run(command, stdout=log, stderr=log, check=False).returncode
        if code:
            last = _last_line(self._log.read_text(errors="replace"))
            raise ImageWrong(f"the image can't be built: {last} (all of it: {self._log})")

    def _command(self, words: Sequence[str]) -> list[str]:
        return ["buildah", *self._options, *words]


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and "exit status" not in line]
    return lines[-1] if lines else "it said nothing"
