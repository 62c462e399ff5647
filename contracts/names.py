"""Names and ids, with their length and character rules."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import StringConstraints

from contracts.limits import (
    ATTEMPTS_MAX,
    JOB_NAME_MAX,
    PIPELINE_NAME_MAX,
    ROUNDS_MAX,
    RUN_ID_MAX,
)
from contracts.model import digest

PIPELINE_PATTERN = rf"^[a-z](?:[a-z0-9-]{{0,{PIPELINE_NAME_MAX - 2}}}[a-z0-9])?$"
RUN_PATTERN = r"^r[0-9]{6}-[0-9]{6}-[a-z0-9]{6}$"
DIGEST_PATTERN = r"^[0-9a-f]{64}$"

PipelineName = Annotated[str, StringConstraints(pattern=PIPELINE_PATTERN)]
RunId = Annotated[str, StringConstraints(pattern=RUN_PATTERN, max_length=RUN_ID_MAX)]
Digest = Annotated[str, StringConstraints(pattern=DIGEST_PATTERN)]
Phase = Literal["collect", "optimize", "evaluate"]
PHASES: tuple[Phase, ...] = ("collect", "optimize", "evaluate")

SUFFIX_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
SUFFIX_LENGTH = 6


class AttemptKey(NamedTuple):
    """Which submission of which job: `<round>-<phase>-<attempt>` within a run."""

    run: str
    round: int
    phase: Phase
    attempt: int

    @property
    def folder(self) -> str:
        """The attempt's part of keys and paths."""
        return f"{self.round}-{self.phase}-{self.attempt}"

    @property
    def job_name(self) -> str:
        """Deterministic DNS-1035 name of the job, at most 47 characters."""
        return f"{self.run}-{self.folder}"


def run_id(now: datetime, suffix: str) -> str:
    """Make a run's id: UTC time to the second, then six random characters.

    Raises:
        ValueError: the suffix is not six lower-case letters and digits.
    """
    made = f"r{now.astimezone(UTC):%y%m%d-%H%M%S}-{suffix}"
    if not re.fullmatch(RUN_PATTERN, made):
        raise ValueError(f"run suffix {suffix!r} must be six of [a-z0-9]")
    return made


def attempt_key(run: str, round_: int, phase: Phase, attempt: int) -> AttemptKey:
    """Check the parts of an attempt's key.

    Raises:
        ValueError: a part is out of its range, or the job name would be too long.
    """
    if not re.fullmatch(RUN_PATTERN, run):
        raise ValueError(f"run id {run!r} does not match {RUN_PATTERN}")
    if not 1 <= round_ <= ROUNDS_MAX:
        raise ValueError(f"round {round_} is not within 1..{ROUNDS_MAX}")
    if phase not in PHASES:
        raise ValueError(f"phase {phase!r} is not one of {', '.join(PHASES)}")
    if not 1 <= attempt <= ATTEMPTS_MAX:
        raise ValueError(f"attempt {attempt} is not within 1..{ATTEMPTS_MAX}")
    key = AttemptKey(run, round_, phase, attempt)
    if len(key.job_name) > JOB_NAME_MAX:
        raise ValueError(f"job name {key.job_name!r} is over {JOB_NAME_MAX} characters")
    return key


def drop_id(bucket: str, key: str, version_id: str) -> str:
    """The identity of one object version, the same for every delivery of its event."""
    return digest("\n".join((bucket, key, version_id)).encode("utf-8"))[:32]


def set_id(pipeline: str, folder: str) -> str:
    """The identity of a folder below a pipeline's."""
    return digest("\n".join((pipeline, folder)).encode("utf-8"))[:32]


def is_pipeline_name(name: str) -> bool:
    """Whether `name` may name a pipeline."""
    return re.fullmatch(PIPELINE_PATTERN, name) is not None
