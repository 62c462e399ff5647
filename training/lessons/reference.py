"""The reference policy's log-probabilities: computed once, kept for later attempts."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.errors import ArtifactCorrupt
from contracts.model import canonical_json, digest
from training.checkpoints.folders import commit_folder
from training.checkpoints.manifests import hold_to_manifest, read_manifest
from training.events import Advance, Event
from training.lessons.lesson import Beginning, Classroom
from training.models.folders import load_model
from training.models.protocols import CausalModel

if TYPE_CHECKING:
    from torch import Tensor

logger = logging.getLogger(__name__)
_FILE = "reference.safetensors"

Figures = dict[str, "Tensor"]
Scoring = Callable[[CausalModel], Iterator[Mapping[str, "Tensor"]]]
"""Scores with a policy; gives the figures by name, growing, complete with the last."""


class ReferenceCache:
    """Kept in the workspace under a name that says all that the figures depend on.

    That is the policy that the lesson began from, the token ids and which of them count (so data,
    tokenizer, template, truncation and context), the precision, and the versions of torch and
    transformers.
    """

    def __init__(self, room: Classroom, beginning: Beginning) -> None:
        self._assignment = room.assignment
        self._beginning = beginning
        self._device = room.device
        self._party = room.party

    def get(
        self, ids: object, scoring: Scoring, model: CausalModel | None, *, what: str
    ) -> Generator[Event, None, Figures]:
        """Read the figures, or compute and keep them, with signs of life.

        Args:
            ids: all token ids that are scored, as JSON values.
            scoring: how.
            model: the policy that the lesson began from, where it is loaded already.
            what: what is scored, such as `48 pairs`.

        Returns:
            The figures by name.
        """
        folder = self._assignment.series / f"reference-{self._name(ids)}"
        kept = self._party.from_first(lambda: _read(folder))
        if kept is not None:
            return kept
        if self._party.rank:
            return self._party.from_first(_nothing)
        policy = model if model is not None else self._load()
        sign = Advance(f"Scoring {what} with the starting policy")
        yield sign
        made: Figures = {}
        for figures in scoring(policy):
            made |= figures
            yield sign
        self._keep(folder, made)
        return self._party.from_first(lambda: made)

    def _load(self) -> CausalModel:
        return load_model(self._beginning.folder, device=self._device)

    def _name(self, ids: object) -> str:
        import torch
        import transformers

        start = self._beginning.manifest
        precision = ["float32", self._device, torch.__version__, transformers.__version__]
        return digest(canonical_json([start, precision, ids]))[:16]

    def _keep(self, folder: Path, made: Figures) -> None:
        from safetensors.torch import save_file

        tensors = {name: figures.contiguous() for name, figures in made.items()}
        commit_folder(
            folder,
            lambda staging: save_file(tensors, staging / _FILE),
            kind="checkpoint",
            run=self._assignment.spec.run,
        )


def _nothing() -> Figures:
    return {}


def _read(folder: Path) -> Figures | None:
    from safetensors.torch import load_file

    if not folder.exists():
        return None
    try:
        hold_to_manifest(folder, read_manifest(folder, expected=None))
    except ArtifactCorrupt as error:
        logger.warning("the reference is computed again: %s", error)
        shutil.rmtree(folder)
        return None
    return dict(load_file(folder / _FILE))
