"""A pipeline: the named recipe that a drop is trained by."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from contracts.limits import OBJECT_BYTES_MAX, ROUNDS_MAX
from contracts.model import Contract, Stored
from contracts.names import PipelineName


class TinyModel(Contract):
    """A small, randomly initialised transformer; its tokenizer is trained on the first drop."""

    source: Literal["tiny"] = "tiny"
    vocab_size: int = Field(1024, ge=300, le=65_536, description="BPE tokens, specials included.")
    hidden_size: int = Field(64, ge=16, le=4096)
    layers: int = Field(2, ge=1, le=64)
    heads: int = Field(4, ge=1, le=64)
    context: int = Field(256, ge=32, le=32_768, description="Longest sequence in tokens.")

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> Self:
        if self.hidden_size % self.heads or (self.hidden_size // self.heads) % 2:
            raise ValueError("hidden_size divided by heads must be an even whole number")
        return self


class FolderModel(Contract):
    """A Hugging Face model and tokenizer in a folder on the cluster's shared file system."""

    source: Literal["folder"]
    path: str = Field(pattern=r"^/", description="Absolute path that `from_pretrained` loads.")
    context: int = Field(2048, ge=32, le=131_072, description="Longest sequence in tokens.")


class DataRules(Contract):
    """What of an upload is taken, and what is held out."""

    format: Literal["auto", "openai_pairs", "sharegpt_pairs", "trl_pairs"] = Field(
        "auto", description="auto detects by content and says by what evidence."
    )
    held_out_share: float = Field(
        0.2, gt=0, lt=1, description="Share of prompts, chosen by digest, never trained on."
    )
    max_bad_share: float = Field(
        1.0, ge=0, le=1, description="A file with a larger share of bad records is refused whole."
    )
    max_object_bytes: int = Field(1024**3, ge=1, le=OBJECT_BYTES_MAX)


class Dpo(Contract):
    """Direct preference optimisation (arXiv 2305.18290), with an optional likelihood term."""

    algorithm: Literal["dpo"]
    steps: int = Field(100, ge=1, le=1_000_000, description="Optimiser steps.")
    batch_size: int = Field(32, ge=1, le=4096, description="Pairs an optimiser step.")
    learning_rate: float = Field(1e-3, gt=0, le=1)
    warmup_steps: int = Field(10, ge=0)
    beta: float = Field(0.1, gt=0, le=10)
    label_smoothing: float = Field(0.0, ge=0, lt=0.5)
    chosen_nll_weight: float = Field(
        0.0, ge=0, le=100, description="Weight of the chosen answers' token-mean likelihood loss."
    )
    gradient_clip: float = Field(1.0, gt=0)
    checkpoint_every: int = Field(20, ge=1, description="Optimiser steps between checkpoints.")


class Round(Contract):
    """What one round does."""

    optimize: Dpo


class Gate(Contract):
    """When a candidate becomes the current policy."""

    metric: Literal["accuracy"] = "accuracy"
    min_gain: float = Field(
        0.0,
        ge=-1,
        le=1,
        description="The lower end of the gain's 95% interval must be above this.",
    )


class Hardware(Contract):
    """What a job asks Ray for."""

    cpus: float = Field(1, gt=0, le=4096)
    gpus: float = Field(0, ge=0, le=4096)


class Patience(Contract):
    """How long the control plane waits; the state machine and `sweep` hold to it."""

    start_limit_s: int = Field(
        1800, ge=30, le=604_800, description="From submission to the first progress."
    )
    heartbeat_s: int = Field(
        240, ge=120, le=86_400, description="Longest silence; sweep speaks once a minute."
    )
    timeout_s: int = Field(
        86_400, ge=60, le=2_592_000, description="Whole attempt; also the job's own deadline."
    )

    @model_validator(mode="after")
    def _heartbeat_is_shorter_than_the_timeout(self) -> Self:
        if self.heartbeat_s >= self.timeout_s:
            raise ValueError("heartbeat_s must be less than timeout_s")
        return self


class Pipeline(Stored):
    """The recipe, as registered by `relay pipelines apply`."""

    name: PipelineName
    description: str = Field("", max_length=500)
    seed: int = Field(0, ge=0, lt=2**31)
    model: TinyModel | FolderModel = Field(TinyModel(), discriminator="source")
    data: DataRules = DataRules()
    rounds: tuple[Round, ...] = Field(min_length=1, max_length=ROUNDS_MAX)
    gate: Gate = Gate()
    hardware: Hardware = Hardware()
    patience: Patience = Patience()
    attempts: int = Field(3, ge=1, le=10, description="Jobs a phase may use.")
