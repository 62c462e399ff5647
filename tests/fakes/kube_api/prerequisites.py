"""What pods need to be there before them: service accounts and claims, by their names."""

from __future__ import annotations

from fakes.kube_api.pod_rules import templates_of
from fakes.kube_api.store import Object, Store

_ALWAYS_THERE = "default"


def missing_accounts(store: Store, ray_cluster: Object) -> list[str]:
    """What the API server would say to KubeRay's tries to make the pods."""
    namespace = ray_cluster["metadata"]["namespace"]
    found: list[str] = []
    for _, template in templates_of(ray_cluster["spec"], "spec"):
        name = template["spec"].get("serviceAccountName", _ALWAYS_THERE)
        if name != _ALWAYS_THERE and store.find("serviceaccounts", name, namespace) is None:
            found.append(
                f"pods is forbidden: error looking up service account {namespace}/{name}: "
                f'serviceaccount "{name}" not found'
            )
    return found


def missing_claims(store: Store, pod: Object) -> list[str]:
    """What the scheduler would say to the pod."""
    namespace = pod["metadata"]["namespace"]
    claims = [it.get("persistentVolumeClaim") for it in pod["spec"].get("volumes", ())]
    names = [claim["claimName"] for claim in claims if claim]
    return [
        f'0/4 nodes are available: persistentvolumeclaim "{name}" not found.'
        for name in names
        if store.find("persistentvolumeclaims", name, namespace) is None
    ]
