"""What functions may do inside the cluster: one role of one namespace, as objects for `kubectl`.

CloudFormation can say who a caller is to the cluster (an access entry puts it into a group), and
nothing of what a group may do. The managed access policy that comes nearest lets its holder edit
every kind of training job, pods and config maps; these rules are what the runner calls and no
more. They are written beside the templates, to be read and applied by whoever keeps the cluster.
"""

from __future__ import annotations

from typing import Any

from cdk.settings import Settings
from contracts.model import canonical_json

ROLE = "relay-jobs"
RULES: tuple[tuple[str, str, str], ...] = (
    ("ray.io", "rayjobs", "create delete get list"),
    ("kueue.x-k8s.io", "workloads", "list"),
    ("", "events pods", "list"),
    ("", "pods/log", "get"),
)
"""API group, resources, verbs."""


def group_of(settings: Settings) -> str:
    """The Kubernetes group that the functions belong to."""
    return f"{settings.name.lower()}:jobs"


def namespace_access(settings: Settings) -> bytes:
    """A list of objects that `kubectl apply -f` takes: service account, role, binding."""
    about = {"namespace": settings.namespace, "labels": {"app.kubernetes.io/part-of": "relay"}}
    role: dict[str, Any] = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": ROLE, **about},
        "rules": [
            {"apiGroups": [group], "resources": kinds.split(), "verbs": verbs.split()}
            for group, kinds, verbs in RULES
        ],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": ROLE, **about},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ROLE},
        "subjects": [
            {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "Group",
                "name": group_of(settings),
            }
        ],
    }
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": settings.service_account, **about},
        "automountServiceAccountToken": False,
    }
    items = [account, role, binding]
    return canonical_json({"apiVersion": "v1", "kind": "List", "items": items}) + b"\n"
