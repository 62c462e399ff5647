"""The round of a cluster: who is let in, what is installed, and what jobs find there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from contracts.hardware import HEAD, HardwareProfile
from lambdas.settings import Settings
from relay.doctor.answers import Answer, Missing, Unanswered, found
from relay.doctor.checks import (
    cluster,
    hyperpod,
    image,
    namespace,
    operator,
    quotas,
    stack,
    workspace,
)
from relay.doctor.finding import Finding
from relay.doctor.reading import Aws, Kubernetes, NoKubernetes

_FUNCTION_ROLE = re.compile(r"(?!Job|Agent|Operator)(\w+)RoleArn")
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_KUEUE = "kueue.x-k8s.io"
_KUEUE_VERSIONS = ("v1beta2", "v1beta1")
_HYPERPODS_MAX = 20


class ClusterRound:
    """The cluster that functions submit to."""

    def __init__(
        self,
        aws: Aws,
        settings: Settings,
        outputs: Mapping[str, str],
        stack_name: str,
        connect: Callable[[str], Kubernetes],
    ) -> None:
        """Look at one cluster.

        Args:
            aws: answers for the account.
            settings: the functions' own.
            outputs: of the control plane's stack.
            stack_name: of the control plane.
            connect: makes the way to a cluster's API, by the cluster's name.
        """
        self._aws = aws
        self._at = settings
        self._outputs = outputs
        self._access_stack = f"{stack_name}Cluster"
        self._connect = connect
        self._kubernetes: Kubernetes = NoKubernetes()
        self._eks_arn = ""

    def findings(self) -> Iterator[Finding]:
        """Look at everything of it."""
        yield from self._cluster()
        yield from self._entries()
        yield from self._identity()
        yield from self._installed()
        yield from self._namespace()
        yield from self._workspace()
        yield self._image()
        yield from self._hyperpod()

    def _eks(self, operation: str, **parameters: Any) -> Answer:  # noqa: ANN401 - boto3 is untyped
        return self._aws.ask("eks", operation, **parameters)

    def _cluster(self) -> Iterator[Finding]:
        name = self._at.cluster_name
        answer = self._eks("describe_cluster", name=name)
        yield cluster.active(name, answer)
        yield cluster.takes_entries(answer)
        self._eks_arn = str(found(answer).get("cluster", {}).get("arn", ""))
        if self._eks_arn:
            self._kubernetes = self._connect(name)
        yield operator.reachable(self._kubernetes.get("/version"))

    def _entries(self) -> Iterator[Finding]:
        groups: set[str] = set()
        for output, role in sorted(self._outputs.items()):
            match = _FUNCTION_ROLE.fullmatch(output)
            if match is None:
                continue
            where = {"clusterName": self._at.cluster_name, "principalArn": role}
            answer = self._eks("describe_access_entry", **where)
            policies = self._eks("list_associated_access_policies", **where)
            groups |= set(found(answer).get("accessEntry", {}).get("kubernetesGroups", []))
            yield cluster.entry(match[1].lower(), answer, policies, self._at.cluster_namespace)
        if groups:
            path = f"/apis/rbac.authorization.k8s.io/v1{self._inside('rolebindings')}"
            yield cluster.bound(groups, self._kubernetes.get(path), self._at.cluster_namespace)

    def _identity(self) -> Iterator[Finding]:
        name, account = self._at.cluster_name, self._at.job_service_account
        yield cluster.identity_agent(
            self._eks("describe_addon", clusterName=name, addonName=cluster.AGENT)
        )
        listed = self._eks(
            "list_pod_identity_associations",
            clusterName=name,
            namespace=self._at.cluster_namespace,
            serviceAccount=account,
        )
        first = (found(listed).get("associations") or [{}])[0].get("associationId")
        detail: Answer = Missing("no association")
        if first:
            detail = self._eks(
                "describe_pod_identity_association", clusterName=name, associationId=first
            )
        yield cluster.identity(account, self._job_role(), listed, detail)

    def _job_role(self) -> str:
        answer = self._aws.ask("cloudformation", "describe_stacks", StackName=self._access_stack)
        return stack.outputs(found(answer)).get("JobRoleArn", "")

    def _installed(self) -> Iterator[Finding]:
        get = self._kubernetes.get
        yield operator.kuberay(
            get(
                "/apis/apps/v1/deployments", labelSelector="app.kubernetes.io/name=kuberay-operator"
            )
        )
        for plural in ("rayjobs", "rayclusters"):
            yield operator.ray_kind(plural, get(f"{_CRDS}/{plural}.ray.io"))

    def _namespace(self) -> Iterator[Finding]:
        at, get = self._at, self._kubernetes.get
        inside = f"/api/v1/namespaces/{at.cluster_namespace}"
        yield namespace.namespace(at.cluster_namespace, get(inside))
        yield namespace.service_account(
            at.job_service_account, get(f"{inside}/serviceaccounts/{at.job_service_account}")
        )
        if at.job_queue_name:
            path = self._inside(f"localqueues/{at.job_queue_name}")
            yield namespace.queue(at.job_queue_name, self._kueue(path))
        if at.job_priority_class:
            path = f"/workloadpriorityclasses/{at.job_priority_class}"
            yield namespace.priority(at.job_priority_class, self._kueue(path))
        if at.ray_cluster:
            path = f"/apis/ray.io/v1{self._inside(f'rayclusters/{at.ray_cluster}')}"
            yield namespace.living_cluster(at.ray_cluster, get(path))
        else:
            yield from self._nodes()

    def _nodes(self) -> Iterator[Finding]:
        profiles = {HEAD: self._at.hardware_profiles.head, **self._at.hardware_profiles.workers}
        for name, profile in profiles.items():
            labels = [namespace.HEALTHY, *(f"{k}={v}" for k, v in profile.labels.items())]
            answer = self._kubernetes.get("/api/v1/nodes", labelSelector=",".join(labels))
            yield namespace.nodes(name, _needs(profile), answer)

    def _kueue(self, path: str) -> Answer:
        answer: Answer = Missing(f"there is no {path}")
        for version in _KUEUE_VERSIONS:
            answer = self._kubernetes.get(f"/apis/{_KUEUE}/{version}{path}")
            if not isinstance(answer, Missing):
                break
        return answer

    def _workspace(self) -> Iterator[Finding]:
        name = self._at.fsx_claim
        path = f"/api/v1{self._inside(f'persistentvolumeclaims/{name}')}"
        answer = self._kubernetes.get(path)
        yield workspace.claim(name, answer)
        volume = workspace.volume_of(found(answer))
        if not volume:
            return
        behind = self._kubernetes.get(f"/api/v1/persistentvolumes/{volume}")
        file_system = workspace.file_system_of(found(behind))
        if file_system:
            yield workspace.available(
                self._aws.ask("fsx", "describe_file_systems", FileSystemIds=[file_system])
            )
            yield workspace.no_loop(self._outputs.get("Bucket", ""), self._links(file_system))

    def _links(self, file_system: str) -> Answer:
        return self._aws.ask(
            "fsx",
            "describe_data_repository_associations",
            Filters=[{"Name": "file-system-id", "Values": [file_system]}],
        )

    def _image(self) -> Finding:
        name = self._at.job_image
        place = image.place(name)
        if place is None:
            return image.elsewhere(name)
        answer = self._aws.ask(
            "ecr",
            "describe_images",
            place.region,
            registryId=place.account,
            repositoryName=place.repository,
            imageIds=[dict(place.id)],
        )
        return image.there(name, answer)

    def _hyperpod(self) -> Iterator[Finding]:
        answer = self._hyperpod_of_eks()
        yield hyperpod.in_service(answer)
        wanted = hyperpod.wanted(found(answer))
        if wanted:
            listed = self._aws.ask_all(
                "service-quotas", "list_service_quotas", "Quotas", ServiceCode="sagemaker"
            )
            yield from quotas.instances(listed, wanted)

    def _hyperpod_of_eks(self) -> Answer:
        listed = self._aws.ask_all("sagemaker", "list_clusters", "ClusterSummaries")
        if isinstance(listed, Missing | Unanswered):
            return listed
        for one in listed["ClusterSummaries"][:_HYPERPODS_MAX]:
            answer = self._aws.ask("sagemaker", "describe_cluster", ClusterName=one["ClusterName"])
            if self._eks_arn and hyperpod.eks_of(found(answer)) == self._eks_arn:
                return answer
        return Missing(f"none of the account's HyperPod clusters is on {self._at.cluster_name}")

    def _inside(self, path: str) -> str:
        return f"/namespaces/{self._at.cluster_namespace}/{path}"


def _needs(profile: HardwareProfile) -> dict[str, int]:
    return {"cpu": profile.cpu} | ({"nvidia.com/gpu": profile.gpu} if profile.gpu else {})
