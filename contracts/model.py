"""The base of every contract, and the one way they become bytes."""

from __future__ import annotations

import hashlib
import json
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from contracts.errors import ContractBroken


class Contract(BaseModel):
    """A frozen value that refuses fields it does not know."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        str_strip_whitespace=False,
        allow_inf_nan=False,
        # Inputs hold tokens, and errors end up in logs.
        hide_input_in_errors=True,
    )

    def to_bytes(self) -> bytes:
        """Canonical JSON: sorted keys, no spaces, so that equal values have equal bytes."""
        return canonical_json(self.model_dump(mode="json"))


class Stored(Contract):
    """A contract that outlives the process: it says which version of itself it is."""

    schema_version: Literal[1] = 1

    @classmethod
    def from_bytes(cls, data: bytes | str, *, where: str) -> Self:
        """Read a stored object.

        Args:
            data: the JSON text.
            where: the object's address, for the error.

        Raises:
            ContractBroken: not JSON, unknown fields, or another `schema_version`.
        """
        try:
            return cls.model_validate_json(data)
        except ValidationError as error:
            raise ContractBroken(f"{where}: {describe(error)}") from error


def canonical_json(value: object) -> bytes:
    """Serialise to the one byte form that digests and comparisons use."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


def digest(data: bytes) -> str:
    """Hexadecimal sha256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def describe(error: ValidationError) -> str:
    """One line that names each wrong field and what is wrong with it."""
    parts = []
    for item in error.errors(include_url=False):
        field = ".".join(str(step) for step in item["loc"]) or "the object"
        parts.append(f"{field}: {item['msg']}")
    return "; ".join(parts)
