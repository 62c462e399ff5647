"""Who may do what: rules as in Kubernetes' Roles, each bound to one namespace or to all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fakes.kube_api.refusals import forbidden

EVERYWHERE = ""


class Caller(NamedTuple):
    """Who a token is of: a user, and the groups that an access entry puts it into."""

    user: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """Verbs on resources (`pods`, `pods/log`) of API groups; `*` stands for all."""

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]

    def allows(self, verb: str, group: str, resource: str) -> bool:
        return (
            _listed(verb, self.verbs)
            and _listed(group, self.groups)
            and _listed(resource, self.resources)
        )


ALL = (Rule(("*",), ("*",), ("*",)),)
READER_OF_CLUSTER = (
    Rule(("apiextensions.k8s.io",), ("customresourcedefinitions",), ("get", "list")),
    Rule(("",), ("namespaces",), ("get",)),
)


def rules_of(role: dict[str, Any]) -> tuple[Rule, ...]:
    """The rules of a Role manifest."""
    return tuple(
        Rule(tuple(rule["apiGroups"]), tuple(rule["resources"]), tuple(rule["verbs"]))
        for rule in role["rules"]
    )


@dataclass(frozen=True)
class Request:
    """What a caller wants: a verb on a resource, perhaps of one name in one namespace."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""


@dataclass
class Access:
    """The table of grants to users and groups; who is in none may only discover the API.

    Attributes:
        used: verb, API group and resource of whatever was let through.
    """

    used: set[tuple[str, str, str]] = field(default_factory=set)
    _grants: dict[str, list[tuple[str, Rule]]] = field(default_factory=dict)

    def grant(self, subject: str, rules: tuple[Rule, ...], namespace: str = EVERYWHERE) -> None:
        self._grants.setdefault(subject, []).extend((namespace, rule) for rule in rules)

    def revoke(self, subject: str) -> None:
        self._grants.pop(subject, None)

    def allows(self, caller: Caller, request: Request) -> bool:
        return any(
            namespace in (EVERYWHERE, request.namespace)
            and rule.allows(request.verb, request.group, request.resource)
            for subject in (caller.user, *caller.groups)
            for namespace, rule in self._grants.get(subject, [])
        )

    def check(self, caller: Caller, request: Request) -> None:
        """Raises: Refused: 403, in Kubernetes' words."""
        if not self.allows(caller, request):
            raise forbidden(
                caller.user,
                request.verb,
                request.group,
                request.resource,
                request.namespace,
                request.name,
            )
        self.used.add((request.verb, request.group, request.resource))


def _listed(one: str, allowed: tuple[str, ...]) -> bool:
    return one in allowed or "*" in allowed
