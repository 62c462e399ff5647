"""The reference policy's log-probabilities: computed once, kept for later attempts."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from contracts.errors import ArtifactCorrupt
from contracts.model import canonical_json, digest
from training.algorithms.dpo import AnswerLogProbs
from training.algorithms.logprobs import score_groups
from training.checkpoints.folders import commit_folder
from training.checkpoints.manifests import hold_to_manifest, read_manifest
from training.episodes.encoding import EncodedPair
from training.events import Advance, Event
from training.lessons.lesson import Beginning, Classroom
from training.models.folders import load_model
from training.models.protocols import CausalModel

logger = logging.getLogger(__name__)
_FILE = "reference.safetensors"

Parts = Mapping[str, Sequence[EncodedPair]]
Reference = dict[str, AnswerLogProbs]


class ReferenceCache:
    """Kept in the workspace under a name that says all that the figures depend on.

    That is the policy that the lesson began from, the token ids (so data, tokenizer, template,
    truncation and context), the precision, and the versions of torch and transformers.
    """

    def __init__(self, room: Classroom, beginning: Beginning) -> None:
        self._assignment = room.assignment
        self._beginning = beginning
        self._device = room.device
        self._pad = room.pad
        self._party = room.party

    def get(self, parts: Parts, model: CausalModel | None) -> Generator[Event, None, Reference]:
        """Read the figures, or compute and keep them, with signs of life.

        Args:
            parts: pairs by name.
            model: the policy that the lesson began from, where it is loaded already.

        Returns:
            Sums by the names of `parts`.
        """
        folder = self._assignment.series / f"reference-{self._name(parts)}"
        kept = self._party.from_first(lambda: _read(folder))
        if kept is not None:
            return kept
        if self._party.rank:
            return self._party.from_first(_nothing)
        policy = model if model is not None else self._load()
        made: Reference = {}
        total = sum(len(pairs) for pairs in parts.values())
        for name, pairs in parts.items():
            made[name] = _of_none()
            yield Advance(f"Scoring {total} pairs with the starting policy")
            for scores in score_groups(policy, pairs, pad=self._pad, device=self._device):
                made[name] = scores.sums
                yield Advance(f"Scoring {total} pairs with the starting policy")
        self._keep(folder, made)
        return self._party.from_first(lambda: made)

    def _load(self) -> CausalModel:
        return load_model(self._beginning.folder, device=self._device)

    def _name(self, parts: Parts) -> str:
        import torch
        import transformers

        ids = {
            name: [[pair.prompt, pair.chosen.ids, pair.rejected.ids] for pair in pairs]
            for name, pairs in parts.items()
        }
        start = self._beginning.manifest
        precision = ["float32", self._device, torch.__version__, transformers.__version__]
        return digest(canonical_json([start, precision, ids]))[:16]

    def _keep(self, folder: Path, made: Reference) -> None:
        from safetensors.torch import save_file

        tensors = {
            f"{name}/{side}": getattr(sums, side).contiguous()
            for name, sums in made.items()
            for side in AnswerLogProbs._fields
        }
        commit_folder(
            folder,
            lambda staging: save_file(tensors, staging / _FILE),
            kind="checkpoint",
            run=self._assignment.spec.run,
        )


def _nothing() -> Reference:
    return {}


def _of_none() -> AnswerLogProbs:
    import torch

    return AnswerLogProbs(torch.zeros(0), torch.zeros(0))


def _read(folder: Path) -> Reference | None:
    from safetensors.torch import load_file

    if not folder.exists():
        return None
    try:
        hold_to_manifest(folder, read_manifest(folder, expected=None))
    except ArtifactCorrupt as error:
        logger.warning("the reference is computed again: %s", error)
        shutil.rmtree(folder)
        return None
    tensors = load_file(folder / _FILE)
    names = {key.partition("/")[0] for key in tensors}
    return {
        name: AnswerLogProbs(*(tensors[f"{name}/{side}"] for side in AnswerLogProbs._fields))
        for name in names
    }
