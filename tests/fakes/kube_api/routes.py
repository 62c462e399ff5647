"""Paths of the API, taken apart."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

from fakes.kube_api.kinds import Kind, Kinds
from fakes.kube_api.refusals import no_such_path


class Target(NamedTuple):
    """What a path names: a collection (no name) or an object, or a subresource of one."""

    kind: Kind
    version: str
    namespace: str
    name: str
    subresource: str

    @property
    def resource(self) -> str:
        """As rules name it: `pods/log`."""
        plural = self.kind.plural
        return f"{plural}/{self.subresource}" if self.subresource else plural


def target_of(path: str, kinds: Kinds) -> Target:
    """Raises: Refused: 404, no such path."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts[:2] == ["api", "v1"]:
        group, version, rest = "", "v1", parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        raise no_such_path()
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and kinds.find(group, rest[2]):
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource, *more = [*rest, "", "", ""][: max(3, len(rest))]
    kind = kinds.find(group, plural)
    if kind is None or any(more) or version not in kind.versions:
        raise no_such_path()
    if bool(namespace) != kind.namespaced and (name or namespace):
        raise no_such_path()
    if subresource and not _has(kind, subresource):
        raise no_such_path()
    return Target(kind, version, namespace, name, subresource)


def _has(kind: Kind, subresource: str) -> bool:
    if subresource == "log":
        return kind.plural == "pods"
    return subresource == "status" and kind.has_status
