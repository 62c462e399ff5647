"""Merge patches (RFC 7386) and JSON patches (RFC 6902)."""

from __future__ import annotations

from typing import Any

from fakes.kube_api.refusals import Refused, bad_request
from fakes.kube_api.trees import copied


def merged(target: Any, patch: Any) -> Any:
    """The target with a merge patch applied; neither is changed."""
    if not isinstance(patch, dict):
        return copied(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def patched(target: Any, operations: list[dict[str, Any]]) -> Any:
    """The target with the operations of a JSON patch applied.

    Raises:
        Refused: an operation does not fit; a failed `test` is 422, as in Kubernetes.
    """
    result = copied(target)
    for operation in operations:
        try:
            result = _apply(result, operation)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise bad_request(f"json patch: {operation} does not fit: {error}") from error
    return result


def _apply(target: Any, operation: dict[str, Any]) -> Any:
    what, path = operation["op"], operation["path"]
    if what == "test":
        if _get(target, path) != operation["value"]:
            raise Refused(422, "Invalid", f"the server rejected our request: test of {path} failed")
        return target
    value = _value(target, operation)
    if what in {"move", "remove", "replace"}:
        _remove(target, operation.get("from", path))
    return target if what == "remove" else _add(target, path, value)


def _value(target: Any, operation: dict[str, Any]) -> Any:
    what = operation["op"]
    if what in {"move", "copy"}:
        return copied(_get(target, operation["from"]))
    if what in {"add", "replace"}:
        return operation["value"]
    if what == "remove":
        return None
    raise ValueError(f"unknown operation {what}")


def _steps(path: str) -> list[str]:
    if path and not path.startswith("/"):
        raise ValueError(f"{path!r} is no JSON pointer")
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _get(target: Any, path: str) -> Any:
    for step in _steps(path):
        target = target[int(step)] if isinstance(target, list) else target[step]
    return target


def _parent(target: Any, path: str) -> tuple[Any, str]:
    *above, last = _steps(path)
    for step in above:
        target = target[int(step)] if isinstance(target, list) else target[step]
    return target, last


def _add(target: Any, path: str, value: Any) -> Any:
    if not path:
        return value
    parent, last = _parent(target, path)
    if isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else int(last), value)
    else:
        parent[last] = value
    return target


def _remove(target: Any, path: str) -> None:
    parent, last = _parent(target, path)
    del parent[int(last) if isinstance(parent, list) else last]
