"""The functions' environment, read once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from contracts.model import Contract


class Settings(Contract):
    """What the stack tells every function."""

    bucket: str
    ledger_table: str
    state_machine_arn: str
    job_queue_url: str
    workspace_root: str = Field(pattern=r"^/")
    progress_interval_s: float = Field(gt=0)
    runner: Literal["queue"]

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        """Read the variables named like the fields, in capitals."""
        return cls.model_validate_strings(
            {name: environ[name.upper()] for name in cls.model_fields if name.upper() in environ}
        )
