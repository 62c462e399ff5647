"""The fake cluster as an EKS cluster of the embedded AWS: the one place that ties them.

MiniStack makes clusters with a container engine only. So the cluster is written into its state
before it starts, and DescribeCluster tells of it as of any other; MiniStack's own webhook for
tokens, which k3s would ask, says whose they are: signature, role and access entry are checked.
"""

from __future__ import annotations

import json
import ssl
import urllib.request
from typing import Any

from fakes.kube_api.access import Caller
from fakes.kube_api.cluster import FakeCluster
from fakes.kube_api.token_check import Presigned, TokenRefused

from relay.local.environment import ACCOUNT, REGION, endpoint
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of

_WEBHOOK_SECRET = "only-the-cluster-knows-it"


def put_into_account(cluster: FakeCluster, places: LocalPlaces) -> None:
    """Have an embedded AWS that has not started yet know the cluster."""
    record = {
        **cluster.described,
        "roleArn": f"arn:aws:iam::{ACCOUNT}:role/eks",
        "resourcesVpcConfig": {},
        "tags": {},
        "_auth_token": _WEBHOOK_SECRET,
    }
    place = f"{ACCOUNT}\x00{REGION}\x00{cluster.name!r}"
    clusters = {"__account_region_scoped__": True, "data": {place: record}}
    places.make()
    (places.state / "eks.json").write_text(json.dumps({"clusters": clusters}))


def let_functions_in(
    cluster: FakeCluster, places: LocalPlaces, stack: str, outputs: dict[str, str], eks: Any
) -> None:
    """Do what deploying the cluster's stack and applying its manifest would.

    MiniStack's CloudFormation has no access entries, so those of the template are made by calls.
    """
    manifest = json.loads((places.assembly / f"{stack}.access.json").read_text())
    cluster.apply_access(manifest)
    template = json.loads((places.assembly / f"{stack}.template.json").read_text())
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::EKS::AccessEntry":
            entry = resource["Properties"]
            eks.create_access_entry(
                clusterName=entry["ClusterName"],
                principalArn=_resolved(entry["PrincipalArn"], outputs),
                kubernetesGroups=entry["KubernetesGroups"],
                type=entry["Type"],
            )


def ask_account(cluster: FakeCluster, places: LocalPlaces) -> None:
    """From now on the embedded AWS says whose a token is."""
    trust = ssl.create_default_context(cafile=str(places.certificate))
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust)
    )
    address = f"{endpoint(ports_of(places).emulator)}/_ministack/eks-auth"
    webhook = f"{address}/{ACCOUNT}/{REGION}/{cluster.name}/{_WEBHOOK_SECRET}"

    def identify(presigned: Presigned) -> Caller:
        review = {"kind": "TokenReview", "spec": {"token": presigned.token}}
        request = urllib.request.Request(webhook, json.dumps(review).encode(), method="POST")
        with opener.open(request, timeout=20) as answer:
            status = json.loads(answer.read())["status"]
        if not status.get("authenticated"):
            raise TokenRefused(f"the account knows no {presigned.access_key} with an entry")
        user = status["user"]
        return Caller(user["username"], tuple(user["groups"]))

    cluster.identify = identify


def _resolved(value: Any, outputs: dict[str, str]) -> str:
    """An ARN of the template, which may be an output of the other stack."""
    if isinstance(value, str):
        return value
    return outputs[value["Fn::GetStackOutput"]["OutputName"]]
