"""The report that an uploader finds under `rejected/`."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from contracts.limits import PROBLEMS_SHOWN_MAX
from contracts.model import Stored
from contracts.result import Problem


class Rejection(Stored):
    """Why an object, or records of it, were not taken."""

    bucket: str
    key: str
    version_id: str
    refused_by: str = Field(description="intake, before a run; or collect, within one.")
    run: str | None = None
    reason: str
    remedy: str
    records: int | None = None
    usable: int | None = None
    problems: tuple[Problem, ...] = Field((), max_length=PROBLEMS_SHOWN_MAX)
    problem_count: int = 0
    at: AwareDatetime
