"""What comes in over HTTP and what goes out, without HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from fakes.kube_api.refusals import bad_request, unsupported

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
"""Of Kubernetes' own kinds only, and here only without lists, where it is a merge patch."""
JSON_PATCH = "application/json-patch+json"
JSON_TYPES = ("application/json", "application/yaml")
BODY_MAX = 3 * 1024 * 1024


@dataclass(frozen=True)
class Call:
    """One request; header names are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "application/json").split(";")[0].strip()

    def flag(self, name: str) -> bool:
        return self.query.get(name, "") in {"1", "true"}

    def document(self, *accepted: str) -> Any:
        """The body, read as its type says. Raises: Refused: 400 or 415."""
        if self.content_type not in accepted:
            raise unsupported(self.content_type, accepted)
        if len(self.body) > BODY_MAX:
            raise bad_request(f"the body has more than {BODY_MAX} bytes")
        try:
            if self.content_type.endswith("yaml"):
                return yaml.safe_load(self.body)
            return json.loads(self.body, object_pairs_hook=_no_repeats)
        except (ValueError, yaml.YAMLError) as error:
            raise bad_request(f"the body could not be read: {error}") from error


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field is there twice")
    return found


@dataclass(frozen=True)
class Answer:
    """What goes back: an object, plain text, or a stream of objects, one a line."""

    code: int
    body: dict[str, Any] | bytes | Iterator[dict[str, Any]]
    headers: dict[str, str] = field(default_factory=dict)
