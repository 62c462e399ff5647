"""Whether a pipeline's environment can be made, as far as this machine can tell."""

from __future__ import annotations

from typing import NamedTuple

from contracts.errors import PipelineInvalid
from contracts.pipeline import Environment
from training.environments.loading import SHIPPED, load


class Fault(NamedTuple):
    """What is wrong with an environment.

    Attributes:
        field: of the pipeline, with dots.
        problem: why it cannot be made.
        certain: whether that holds on the cluster too: Relay's own environments are the same
            everywhere, those of others need only be there.
    """

    field: str
    problem: str
    certain: bool


def check(spec: Environment) -> Fault | None:
    """Make the environment once; None when that went well."""
    try:
        load(spec)
    except PipelineInvalid as error:
        field, _, problem = str(error).partition(": ")
        module = spec.path.partition(":")[0]
        return Fault(field, problem, certain=module.startswith(f"{SHIPPED}."))
    return None
