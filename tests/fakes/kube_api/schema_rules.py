"""The CEL rules of the schemas, each translated by hand: a rule not known here is not checked.

A contract test holds that every rule of the RayJob's and RayCluster's schemas is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_OPERATORS = ("ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue")

KNOWN: dict[str, Callable[[Any, Any], bool]] = {
    "self == oldSelf": lambda new, old: old is None or new == old,
    "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']": (
        lambda new, _old: new in _OPERATORS
    ),
    "!(has(self.jobStatus) && has(self.jobDeploymentStatus))": (
        lambda new, _old: not ("jobStatus" in new and "jobDeploymentStatus" in new)
    ),
    "has(self.jobStatus) || has(self.jobDeploymentStatus)": (
        lambda new, _old: "jobStatus" in new or "jobDeploymentStatus" in new
    ),
    "!((has(self.onSuccess) || has(self.onFailure)) && has(self.deletionRules))": (
        lambda new, _old: (
            not (("onSuccess" in new or "onFailure" in new) and "deletionRules" in new)
        )
    ),
    "((has(self.onSuccess) && has(self.onFailure)) || has(self.deletionRules))": (
        lambda new, _old: ("onSuccess" in new and "onFailure" in new) or "deletionRules" in new
    ),
}


def rules(schema: dict[str, Any]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = schema.get("x-kubernetes-validations", [])
    return found


def broken_rules(value: Any, schema: dict[str, Any], old: Any) -> Iterator[str]:
    """The messages of the rules that the value breaks."""
    for rule in rules(schema):
        holds = KNOWN.get(rule["rule"])
        if holds is not None and not holds(value, old):
            yield rule.get("message", f"failed rule: {rule['rule']}")


def unknown_rules(schema: Any) -> set[str]:
    """Rules anywhere in a schema that nobody translated."""
    found: set[str] = set()
    if isinstance(schema, dict):
        if isinstance(schema.get("x-kubernetes-validations"), list):
            found |= {rule["rule"] for rule in rules(schema)} - set(KNOWN)
        for below in schema.values():
            found |= unknown_rules(below)
    elif isinstance(schema, list):
        for below in schema:
            found |= unknown_rules(below)
    return found
