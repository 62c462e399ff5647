"""Server-side apply, as far as kubectl and controllers lean on it: who owns which field.

Lists are owned as a whole, unlike in Kubernetes, where those with keys are owned by item.
"""

from __future__ import annotations

from typing import Any

from fakes.kube_api.patches import merged
from fakes.kube_api.refusals import Refused
from fakes.kube_api.trees import copied

Path = tuple[str, ...]
_NEVER_OWNED = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}


class Owners:
    """By object and manager: the fields that it applied, with their values."""

    def __init__(self) -> None:
        self._fields: dict[str, dict[str, dict[Path, Any]]] = {}

    def applied(
        self, uid: str, current: dict[str, Any], wanted: dict[str, Any], manager: str, force: bool
    ) -> dict[str, Any]:
        """The object as it is after the manager applied what it wants.

        Raises:
            Refused: 409, another manager owns a field and wants another value.
        """
        fields = {path: value for path, value in leaves(wanted) if path not in _NEVER_OWNED}
        managers = self._fields.setdefault(uid, {})
        others = {name: owned for name, owned in managers.items() if name != manager}
        self._check(fields, others, force)
        result = merged(current, wanted)
        for path in managers.get(manager, {}):
            if path not in fields and not any(path in owned for owned in others.values()):
                _drop(result, path)
        managers[manager] = fields
        if force:
            for owned in others.values():
                for path in fields:
                    owned.pop(path, None)
        return result

    def start(self, uid: str, wanted: dict[str, Any], manager: str) -> None:
        """Note who made an object."""
        fields = {path: value for path, value in leaves(wanted) if path not in _NEVER_OWNED}
        self._fields[uid] = {manager: fields}

    def forget(self, uid: str) -> None:
        self._fields.pop(uid, None)

    def _check(
        self, fields: dict[Path, Any], others: dict[str, dict[Path, Any]], force: bool
    ) -> None:
        if force:
            return
        for name, owned in others.items():
            for path, value in fields.items():
                if path in owned and owned[path] != value:
                    told = "." + ".".join(path)
                    message = f'Apply failed with 1 conflict: conflict with "{name}": {told}'
                    cause = {"reason": "FieldManagerConflict", "message": name, "field": told}
                    raise Refused(409, "Conflict", message, {"causes": [cause]})


def leaves(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """The fields of an object that are no objects themselves."""
    if not isinstance(value, dict) or not value:
        return [(path, copied(value))]
    return [leaf for name, below in value.items() for leaf in leaves(below, (*path, name))]


def _drop(target: dict[str, Any], path: Path) -> None:
    *above, last = path
    for name in above:
        below = target.get(name)
        if not isinstance(below, dict):
            return
        target = below
    target.pop(last, None)
