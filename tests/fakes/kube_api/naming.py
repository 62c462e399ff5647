"""Names, labels and annotations: which are legal, for what."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import Any

from fakes.kube_api.kinds import Kind
from fakes.kube_api.refusals import Cause

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX = 5
_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_LABEL_1123 = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
ANNOTATIONS_MAX = 256 * 1024
# KubeRay's webhook and controller: names of what it makes must still fit.
_RULES = {"rayjobs": (_LABEL_1035, 47), "rayclusters": (_LABEL_1035, 53)}
_RULES_1123 = {"namespaces": (_LABEL_1123, 63)}


def random_suffix() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(SUFFIX))


def faults(metadata: dict[str, Any], kind: Kind) -> Iterator[Cause]:
    """What is wrong with an object's name, labels and annotations."""
    name = metadata.get("name", "")
    pattern, longest = {**_RULES, **_RULES_1123}.get(kind.plural, (_SUBDOMAIN, 253))
    if not isinstance(name, str) or not pattern.fullmatch(name):
        rule = "DNS-1035 label" if pattern is _LABEL_1035 else "RFC 1123 name"
        yield Cause("FieldValueInvalid", f'Invalid value: "{name}": a {rule}', "metadata.name")
    elif len(name) > longest:
        yield Cause(
            "FieldValueInvalid",
            f'Invalid value: "{name}": must be no more than {longest} characters',
            "metadata.name",
        )
    yield from label_faults(metadata.get("labels", {}), "metadata.labels")
    yield from annotation_faults(metadata.get("annotations", {}), "metadata.annotations")


def label_faults(labels: dict[str, Any], path: str) -> Iterator[Cause]:
    for key, value in (labels or {}).items():
        if why := _key_fault(key):
            yield Cause("FieldValueInvalid", f'Invalid value: "{key}": {why}', path)
        if not isinstance(value, str):
            yield Cause("FieldValueTypeInvalid", f"{key} must be a string", path)
        elif value and (len(value) > 63 or not _WORD.fullmatch(value)):
            yield Cause(
                "FieldValueInvalid",
                f'Invalid value: "{value}": a valid label must be an empty string or consist of '
                "at most 63 alphanumeric characters, '-', '_' or '.'",
                path,
            )


def annotation_faults(annotations: dict[str, Any], path: str) -> Iterator[Cause]:
    size = 0
    for key, value in (annotations or {}).items():
        if why := _key_fault(key.lower()):
            yield Cause("FieldValueInvalid", f'Invalid value: "{key}": {why}', path)
        if not isinstance(value, str):
            yield Cause("FieldValueTypeInvalid", f"{key} must be a string", path)
        size += len(key) + len(str(value))
    if size > ANNOTATIONS_MAX:
        yield Cause("FieldValueTooLong", f"Too long: at most {ANNOTATIONS_MAX} bytes", path)


def _key_fault(key: str) -> str:
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not _SUBDOMAIN.fullmatch(prefix)):
        return "prefix part must be a DNS-1123 subdomain"
    if not name or len(name) > 63 or not _WORD.fullmatch(name):
        return "name part must consist of at most 63 alphanumeric characters, '-', '_' or '.'"
    return ""
