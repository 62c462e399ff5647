"""Version 0: the policy of a pipeline's first run, made from its model and seed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from contracts import layout
from contracts.errors import PipelineInvalid
from contracts.pipeline import FolderModel, TinyModel
from training.assignment import Assignment
from training.checkpoints.folders import commit_folder
from training.events import Export
from training.models.protocols import CausalModel, Tokenizer


def make_version_zero(assignment: Assignment, texts: Iterable[str]) -> Export:
    """Commit the policy as the folder `start`, to be copied out as well.

    Args:
        assignment: whose pipeline names model and seed.
        texts: what a tiny model's tokenizer is trained on; nothing held out is among it.

    Raises:
        PipelineInvalid: the model's folder is not there, or reaches less far than the context.
    """
    from training.models.folders import save_policy
    from training.models.runtime import prepare_runtime

    prepare_runtime(assignment)
    source = assignment.plan.pipeline.model
    if isinstance(source, TinyModel):
        model, tokenizer = _tiny(source, texts, assignment.plan.pipeline.seed)
    else:
        model, tokenizer = _folder(source)
    folder = assignment.folder / "start"
    ref = commit_folder(
        folder,
        lambda staging: save_policy(staging, model, tokenizer),
        kind="checkpoint",
        run=assignment.spec.run,
    )
    prefix = layout.initial_policy(assignment.spec.pipeline, assignment.spec.run)
    return Export(folder, ref, prefix)


def _tiny(shape: TinyModel, texts: Iterable[str], seed: int) -> tuple[CausalModel, Tokenizer]:
    from training.models.tiny import make_tiny
    from training.models.tokenizer import train_tokenizer
    from training.seeding import seed_everything

    tokenizer = train_tokenizer(texts, vocab_size=shape.vocab_size, context=shape.context)
    seed_everything(seed)
    return make_tiny(shape, tokenizer), tokenizer


def _folder(source: FolderModel) -> tuple[CausalModel, Tokenizer]:
    from training.models.folders import load_model, load_tokenizer

    path = Path(source.path)
    if not path.is_dir():
        raise PipelineInvalid(f"model.path {source.path} is not a folder on the cluster")
    model = load_model(path)
    reach = getattr(model.config, "max_position_embeddings", source.context)
    if reach < source.context:
        raise PipelineInvalid(
            f"model.context is {source.context}, but the model reaches {reach} tokens"
        )
    return model, load_tokenizer(path)
