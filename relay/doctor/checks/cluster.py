"""The EKS cluster, and who is let in."""

from __future__ import annotations

from collections.abc import Iterable

from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, unknown, wrong

_MODES = {"API", "API_AND_CONFIG_MAP"}
AGENT = "eks-pod-identity-agent"


def active(cluster: str, answer: Answer) -> Finding:
    """Whether the cluster is there and at work."""
    about = f"EKS cluster {cluster}"

    def by(found: Found) -> Finding:
        there = found["cluster"]
        status = there.get("status", "")
        reach = "public" if _is_public(there) else "private"
        seen = f"{status}, Kubernetes {there.get('version', '?')}, endpoint {reach}"
        if status == "UPDATING":
            return unknown(about, seen, "wait until EKS is done, and look again")
        if status != "ACTIVE":
            return wrong(about, seen, "see the cluster's page in the EKS console")
        return ok(about, seen)

    missing = "deploy with the cluster's name in `-c cluster_name=…`, in the cluster's region"
    return judge(about, answer, missing=missing, by=by)


def takes_entries(answer: Answer) -> Finding:
    """Whether access entries count."""
    about = "cluster's authentication mode"

    def by(found: Found) -> Finding:
        mode = found["cluster"].get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
        if mode not in _MODES:
            remedy = (
                "aws eks update-cluster-config --name CLUSTER --access-config "
                "authenticationMode=API_AND_CONFIG_MAP (there is no way back)"
            )
            return wrong(about, mode, remedy)
        return ok(about, mode)

    return judge(about, answer, missing="mend what is said of the EKS cluster first", by=by)


def entry(who: str, answer: Answer, policies: Answer, namespace: str) -> Finding:
    """Whether a function's role may act in the namespace.

    Args:
        who: the function.
        answer: its role's access entry.
        policies: access policies associated with it.
        namespace: of the jobs.
    """
    about = f"access entry of {who}"

    def by(found: Found) -> Finding:
        there = found["accessEntry"]
        kind, groups = there.get("type", ""), list(there.get("kubernetesGroups", []))
        if kind != "STANDARD":
            remedy = "delete it and deploy the cluster's stack again: only STANDARD carries rights"
            return wrong(about, f"of type {kind}", remedy)
        if groups:
            return ok(about, f"STANDARD, group {', '.join(groups)}")
        return judge(about, policies, missing=_ENTRY, by=covered)

    def covered(found: Found) -> Finding:
        names = [
            _short(one) for one in found["associatedAccessPolicies"] if _covers(one, namespace)
        ]
        if not names:
            seen = f"STANDARD, without a group or a policy for namespace {namespace}"
            return wrong(about, seen, _ENTRY)
        return ok(about, f"STANDARD, {', '.join(names)}")

    return judge(about, answer, missing=_ENTRY, by=by)


_ENTRY = "`cdk deploy` the cluster's stack: it makes the entry, in the functions' group"


def bound(groups: Iterable[str], answer: Answer, namespace: str) -> Finding:
    """Whether a role of the namespace is bound to the functions' groups.

    Args:
        groups: Kubernetes groups of their access entries.
        answer: the namespace's role bindings.
        namespace: of the jobs.
    """
    about = "role binding"
    wanted = set(groups)

    def by(found: Found) -> Finding:
        roles = [
            item["roleRef"]["name"]
            for item in found.get("items", [])
            if any(
                one.get("kind") == "Group" and one.get("name") in wanted
                for one in item.get("subjects", [])
            )
        ]
        if not roles:
            seen = f"nothing in {namespace} is bound to group {', '.join(sorted(wanted))}"
            return wrong(about, seen, _APPLY)
        return ok(about, f"role {', '.join(sorted(set(roles)))}")

    return judge(about, answer, missing=_APPLY, by=by)


_APPLY = "kubectl apply -f cdk.out/STACKCluster.access.json, which `make synth` writes"


def identity_agent(answer: Answer) -> Finding:
    """Whether pods are given roles at all."""
    about = f"add-on {AGENT}"

    def by(found: Found) -> Finding:
        status = found["addon"].get("status", "")
        if status == "ACTIVE":
            return ok(about, f"{status}, {found['addon'].get('addonVersion', '')}")
        return wrong(about, status, "see the add-on's health in the EKS console")

    missing = f"aws eks create-addon --cluster-name CLUSTER --addon-name {AGENT}"
    return judge(about, answer, missing=missing, by=by)


def identity(account: str, role: str, associations: Answer, answer: Answer) -> Finding:
    """Whether jobs act as their role.

    Args:
        account: the jobs' service account.
        role: ARN of the role that is theirs; empty when it isn't known.
        associations: those of the service account.
        answer: the first of them.
    """
    about = f"identity of {account}"
    missing = "`cdk deploy` the cluster's stack: it makes the association"

    def by(found: Found) -> Finding:
        if not found["associations"]:
            return wrong(about, "no pod identity association", missing)
        return judge(about, answer, missing=missing, by=same)

    def same(found: Found) -> Finding:
        there = found["association"].get("roleArn", "")
        if role and there != role:
            remedy = f"delete the association, then {missing}"
            return wrong(about, f"pods act as {there}, not as {role}", remedy)
        return ok(about, there)

    return judge(about, associations, missing=missing, by=by)


def _is_public(cluster: Found) -> bool:
    return bool(cluster.get("resourcesVpcConfig", {}).get("endpointPublicAccess", True))


def _covers(policy: Found, namespace: str) -> bool:
    scope = policy.get("accessScope", {})
    return scope.get("type") == "cluster" or namespace in scope.get("namespaces", [])


def _short(policy: Found) -> str:
    return str(policy.get("policyArn", "")).rpartition("/")[2]
