"""Label selectors and field selectors, as queries carry them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fakes.kube_api.refusals import bad_request

Test = Callable[[dict[str, Any]], bool]
_SET = re.compile(r"(\S+)\s+(in|notin)\s+\(([^)]*)\)")
_EQUALS = re.compile(r"([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)")
_KEY = re.compile(r"(!?)\s*([^\s=!(),]+)")
FIELDS = {
    "events": {
        "involvedObject.kind",
        "involvedObject.name",
        "involvedObject.namespace",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "type",
        "source",
    },
    "pods": {"spec.nodeName", "status.phase", "spec.serviceAccountName", "spec.restartPolicy"},
}


def by_labels(text: str) -> Test:
    """`a=b,c!=d,e in (f,g),!h`."""
    tests = [_label_test(part) for part in _parts(text)]
    return lambda it: all(test(it.get("metadata", {}).get("labels") or {}) for test in tests)


def by_fields(text: str, plural: str) -> Test:
    """`metadata.name=x`; for each kind only the fields that Kubernetes indexes for it."""
    known = FIELDS.get(plural, set()) | {"metadata.name", "metadata.namespace"}
    tests: list[Test] = []
    for part in filter(None, text.split(",")):
        match = _EQUALS.fullmatch(part.strip())
        if match is None:
            raise bad_request(f"invalid selector: '{part}'")
        path, operator, value = match.groups()
        if path not in known:
            raise bad_request(f'Unable to find "{plural}" that match field selector "{path}"')
        tests.append(_field_test(path, value, wanted=operator != "!="))
    return lambda it: all(test(it) for test in tests)


def at(value: Any, path: str) -> Any:
    """What is at a dotted path; None where there is nothing."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _field_test(path: str, value: str, *, wanted: bool) -> Test:
    return lambda it: (str(at(it, path) or "") == value) is wanted


def _parts(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _label_test(part: str) -> Test:
    if match := _SET.fullmatch(part):
        key, operator, listed = match.groups()
        values = {value.strip() for value in listed.split(",")}
        if operator == "in":
            return lambda labels: key in labels and labels[key] in values
        return lambda labels: labels.get(key) not in values
    if match := _EQUALS.fullmatch(part):
        key, operator, value = match.groups()
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _KEY.fullmatch(part):
        absent, key = match.groups()
        return lambda labels: (key in labels) is not bool(absent)
    raise bad_request(f"unable to parse requirement: {part!r}")
