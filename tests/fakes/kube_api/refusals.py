"""What the API server refuses, in the words and numbers of Kubernetes' Status objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Cause(NamedTuple):
    """One thing that is wrong with an object."""

    reason: str
    message: str
    field: str


class Refused(Exception):
    """A request that is answered with a Status of failure."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.details = details or {}
        self.headers = headers or {}

    def status(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if self.details:
            body["details"] = self.details
        return body


def named(group: str, plural: str) -> str:
    """`rayjobs.ray.io`, or `pods` for what has no group."""
    return f"{plural}.{group}" if group else plural


def _about(group: str, plural: str, name: str) -> dict[str, Any]:
    return {"name": name, "group": group, "kind": plural}


def not_found(group: str, plural: str, name: str) -> Refused:
    message = f'{named(group, plural)} "{name}" not found'
    return Refused(404, "NotFound", message, _about(group, plural, name))


def no_such_path() -> Refused:
    return Refused(404, "NotFound", "the server could not find the requested resource")


def already_exists(group: str, plural: str, name: str) -> Refused:
    message = f'{named(group, plural)} "{name}" already exists'
    return Refused(409, "AlreadyExists", message, _about(group, plural, name))


def conflict(group: str, plural: str, name: str, why: str = "") -> Refused:
    why = why or (
        "the object has been modified; please apply your changes to the latest version "
        "and try again"
    )
    message = f'Operation cannot be fulfilled on {named(group, plural)} "{name}": {why}'
    return Refused(409, "Conflict", message, _about(group, plural, name))


def invalid(group: str, kind: str, name: str, causes: Sequence[Cause]) -> Refused:
    told = [f"{cause.field}: {cause.message}" for cause in causes]
    listed = told[0] if len(told) == 1 else f"[{', '.join(told)}]"
    details = _about(group, kind, name)
    details["causes"] = [cause._asdict() for cause in causes]
    message = f'{named(group, kind)} "{name}" is invalid: {listed}'
    return Refused(422, "Invalid", message, details)


def bad_request(message: str) -> Refused:
    return Refused(400, "BadRequest", message)


def unknown_fields(kind: str, version: str, fields: Sequence[str]) -> Refused:
    told = ", ".join(f'unknown field "{field}"' for field in fields)
    return bad_request(
        f'{kind} in version "{version}" cannot be handled as a {kind}: '
        f"strict decoding error: {told}"
    )


def unauthorized() -> Refused:
    return Refused(401, "Unauthorized", "Unauthorized")


def forbidden(user: str, verb: str, group: str, what: str, namespace: str, name: str) -> Refused:
    plural, _, _ = what.partition("/")
    where = f' in the namespace "{namespace}"' if namespace else " at the cluster scope"
    subject = f'{named(group, plural)} "{name}"' if name else named(group, plural)
    message = (
        f'{subject} is forbidden: User "{user}" cannot {verb} resource "{what}" '
        f'in API group "{group}"{where}'
    )
    return Refused(403, "Forbidden", message, _about(group, plural, name))


def gone(oldest: int, asked: int) -> Refused:
    return Refused(410, "Expired", f"too old resource version: {asked} ({oldest})")


def not_allowed() -> Refused:
    return Refused(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )


def unsupported(content_type: str, accepted: Sequence[str]) -> Refused:
    message = (
        f"the body of the request was in an unknown format ({content_type}) "
        f"- accepted media types include: {', '.join(accepted)}"
    )
    return Refused(415, "UnsupportedMediaType", message)
