"""The steps of a round: how a policy learns, one algorithm each."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from contracts.misfit import Misfit
from contracts.model import Contract


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


class Kto(Contract):
    """Kahneman-Tversky optimisation (arXiv 2402.01306): from single answers, good and bad."""

    algorithm: Literal["kto"]
    steps: int = Field(100, ge=1, le=1_000_000, description="Optimiser steps.")
    batch_size: int = Field(
        32, ge=2, le=4096, description="Episodes an optimiser step; the KL is a mean over them."
    )
    learning_rate: float = Field(1e-3, gt=0, le=1)
    warmup_steps: int = Field(10, ge=0)
    beta: float = Field(0.1, gt=0, le=10)
    desirable_weight: float = Field(1.0, ge=0, le=100, description="Of good episodes.")
    undesirable_weight: float = Field(1.0, ge=0, le=100, description="Of bad episodes.")
    gradient_clip: float = Field(1.0, gt=0)
    checkpoint_every: int = Field(20, ge=1, description="Optimiser steps between checkpoints.")

    @model_validator(mode="after")
    def _something_is_learnt(self) -> Self:
        if not self.desirable_weight + self.undesirable_weight:
            raise Misfit(
                "desirable_weight", "one of desirable_weight and undesirable_weight must be above 0"
            )
        return self


class Auto(Contract):
    """What the data allow: dpo on pairs, kto on good and bad episodes, sft on good ones alone."""

    algorithm: Literal["auto"]
    steps: int = Field(100, ge=1, le=1_000_000, description="Optimiser steps.")
    batch_size: int = Field(32, ge=2, le=4096, description="Pairs or episodes an optimiser step.")
    learning_rate: float = Field(1e-3, gt=0, le=1)
    warmup_steps: int = Field(10, ge=0)
    beta: float = Field(0.1, gt=0, le=10, description="Of dpo and kto.")
    gradient_clip: float = Field(1.0, gt=0)
    checkpoint_every: int = Field(20, ge=1, description="Optimiser steps between checkpoints.")


class Sft(Contract):
    """Supervised learning on the best of the dropped episodes."""

    algorithm: Literal["sft"]
    steps: int = Field(100, ge=1, le=1_000_000, description="Optimiser steps.")
    batch_size: int = Field(64, ge=1, le=4096, description="Episodes an optimiser step.")
    learning_rate: float = Field(1e-3, gt=0, le=1)
    warmup_steps: int = Field(20, ge=0)
    top_share: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Share of the episodes that is learnt from, by return; None: half of them "
        "with an environment, every good one without.",
    )
    gradient_clip: float = Field(1.0, gt=0)
    checkpoint_every: int = Field(50, ge=1, description="Optimiser steps between checkpoints.")


class Ppo(Contract):
    """Proximal policy optimisation (arXiv 1707.06347) over tokens, on-policy within the job."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    algorithm: Literal["ppo"]
    iterations: int = Field(40, ge=1, le=100_000, description="Rollout and update, this often.")
    episodes: int = Field(256, ge=2, le=65_536, description="Episodes an iteration.")
    group_size: int = Field(
        1, ge=1, le=4096, description="Episodes of one task in a batch; divides `episodes`."
    )
    epochs: int = Field(2, ge=1, le=16, description="Passes over an iteration's episodes.")
    minibatches: int = Field(4, ge=1, le=256, description="Optimiser steps a pass.")
    learning_rate: float = Field(7e-4, gt=0, le=1, description="Falls linearly to a fifth.")
    warmup_iterations: int = Field(3, ge=0)
    clip: float = Field(0.2, gt=0, lt=1)
    gamma: float = Field(1.0, gt=0, le=1)
    lambda_: float = Field(0.95, ge=0, le=1, alias="lambda")
    value_weight: float = Field(0.25, ge=0)
    value_clip: float | None = Field(None, gt=0)
    entropy_weight: float = Field(0.01, ge=0)
    kl_weight: float = Field(0.0, ge=0, description="Of the reward's KL penalty a token.")
    gradient_clip: float = Field(1.0, gt=0)
    stop_at_success: float = Field(
        1.0, gt=0, le=1, description="Ends early when the last five iterations' mean reaches it."
    )
    checkpoint_every: int = Field(5, ge=1, description="Iterations between checkpoints.")

    @model_validator(mode="after")
    def _groups_and_minibatches_divide_the_batch(self) -> Self:
        if self.episodes % self.group_size:
            raise Misfit("episodes", "episodes must be a multiple of group_size")
        if self.episodes % self.minibatches:
            raise Misfit("episodes", "episodes must be a multiple of minibatches")
        return self


Step = Annotated[Sft | Dpo | Kto | Auto | Ppo, Field(discriminator="algorithm")]
