"""Parts that have been played, kept where a later attempt finds them, and gathered at the end."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from contracts.artifact import ArtifactRef
from contracts.errors import ArtifactCorrupt
from training.checkpoints.folders import commit_folder
from training.checkpoints.manifests import hold_to_manifest, read_manifest
from training.rollouts.episode import Episode

logger = logging.getLogger(__name__)


class Shelf:
    """A folder with a folder for each part, complete and verified or not there at all."""

    def __init__(self, folder: Path, run: str) -> None:
        """Look at a folder, which need not exist.

        Args:
            folder: its name must say all that the episodes depend on.
            run: the run that plays.
        """
        self._folder = folder
        self._run = run

    def holds(self, number: int) -> bool:
        """Whether a part is there; one that is damaged is thrown away."""
        place = self._place(number)
        if not place.exists():
            return False
        try:
            hold_to_manifest(place, read_manifest(place, expected=None))
        except ArtifactCorrupt as error:
            logger.warning("a part is played again: %s", error)
            shutil.rmtree(place)
            return False
        return True

    def put(self, number: int, episodes: Iterable[Episode]) -> None:
        """Keep a part.

        Raises:
            OSError: the disk refuses.
        """

        def fill(folder: Path) -> None:
            with (folder / file_of(number)).open("wb") as file:
                file.writelines(episode.to_line() for episode in episodes)

        commit_folder(self._place(number), fill, kind="episodes", run=self._run)

    def gather(self, target: Path, parts: int) -> ArtifactRef:
        """Commit all parts as one artifact; the shelf stays as it is.

        Args:
            target: the artifact's folder.
            parts: how many there are.

        Raises:
            ArtifactCorrupt: a part is not what it was.
            OSError: the disk refuses.
        """

        def fill(folder: Path) -> None:
            for number in range(parts):
                place = self._place(number)
                hold_to_manifest(place, read_manifest(place, expected=None))
                shutil.copyfile(place / file_of(number), folder / file_of(number))

        return commit_folder(target, fill, kind="episodes", run=self._run)

    def _place(self, number: int) -> Path:
        return self._folder / f"{number:05d}"


def file_of(number: int) -> str:
    """Name of a part's file."""
    return f"part-{number:05d}.jsonl"


def read_rollouts(folder: Path) -> Iterator[Episode]:
    """Read a verified artifact of episodes, in the order of their indices.

    Raises:
        ContractBroken: a line is not an episode.
    """
    for path in sorted(folder.glob("part-*.jsonl")):
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield Episode.from_line(line, where=f"{path.name}:{number}")
