"""The fake cluster refuses what a real one refuses, in the same words, and a little more."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from fakes.kube_api import schema_rules
from fakes.kube_api.access import Rule
from fakes.kube_api.cluster import CRDS, FakeCluster
from fakes.kube_api.signing import KEY, SECRET, encode, sign
from fakes.kube_api.token_check import TokenCheck, TokenRefused
from fakes.plain_client import (
    Body,
    Client,
    client,
    cluster,
    rayjob,
    with_container,
)

pytestmark = pytest.mark.skipif(not CRDS.exists(), reason="the CRDs are not here")
__all__ = ["client", "cluster"]
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"


# Tokens


def test_a_token_as_boto_signs_it_is_taken():
    check = TokenCheck("train", "us-east-1", {KEY: SECRET}.get)
    assert check.check(f"Bearer {sign('train')}").access_key == KEY
    assert check.check(f"Bearer {sign('train', session_token='a+b/c=')}").access_key == KEY


BAD_TOKENS: dict[str, Callable[[], str]] = {
    "another cluster's name": lambda: sign("other"),
    "a wrong secret": lambda: sign("train", secret="another"),
    "an hour's link": lambda: sign("train", expires_s=3600),
    "another service's host": lambda: sign("train", host="example.com"),
    "the global host": lambda: sign("train", host="sts.amazonaws.com"),
    "another region": lambda: sign("train", region="eu-west-1"),
    "another action": lambda: sign("train", action="GetSessionToken"),
    "another header": lambda: sign("train", header="x-cluster"),
    "padding": lambda: sign("train") + "=",
    "no prefix": lambda: sign("train").removeprefix("k8s-aws-v1."),
    "no link": lambda: encode("nothing"),
    "one parameter more": lambda: encode("https://sts.us-east-1.amazonaws.com/?Action=a&x=y"),
    "plain http": lambda: encode("http://sts.us-east-1.amazonaws.com/?Action=GetCallerIdentity"),
}


@pytest.mark.parametrize("bad", BAD_TOKENS)
def test_a_token_is_refused_for(bad: str):
    check = TokenCheck("train", "us-east-1", {KEY: SECRET}.get)
    with pytest.raises(TokenRefused):
        check.check(f"Bearer {BAD_TOKENS[bad]()}")


@pytest.mark.parametrize(("minutes", "taken"), [(-6, False), (0, True), (14, True), (16, False)])
def test_a_token_is_good_for_a_quarter_of_an_hour(minutes: int, taken: bool):
    later = datetime.now(UTC) + timedelta(minutes=minutes)
    check = TokenCheck("train", "us-east-1", {KEY: SECRET}.get, lambda: later)
    token = f"Bearer {sign('train')}"
    if taken:
        check.check(token)
        return
    with pytest.raises(TokenRefused):
        check.check(token)


def test_whoever_is_not_known_hears_401_and_whoever_may_not_hears_403(cluster: FakeCluster):
    assert Client(cluster, "nothing").call("GET", "/version")[0] == 401
    cluster.grant("AKIAREADER", (Rule(("ray.io",), ("rayjobs",), ("list",)),), namespace="relay")
    reader = Client(cluster, sign(cluster.name, key="AKIAREADER"))
    assert reader.call("GET", reader.at("rayjobs"))[0] == 200
    code, status = reader.make()
    assert (code, status["reason"]) == (403, "Forbidden")
    assert 'cannot create resource "rayjobs" in API group "ray.io"' in status["message"]
    assert reader.call("GET", "/apis/ray.io/v1/rayjobs")[0] == 403, "only in its namespace"


# Objects


def test_every_rule_of_the_ray_kinds_is_checked(cluster: FakeCluster):
    for plural in ("rayjobs", "rayclusters"):
        schemas = cluster.store.kinds.of(plural).schemas
        assert schema_rules.unknown_rules(schemas["v1"]) == set()


def test_an_object_gets_what_the_server_gives(client: Client):
    code, made = client.make()
    assert code == 201
    assert {"uid", "resourceVersion", "creationTimestamp", "generation"} <= made["metadata"].keys()
    assert made["spec"]["submissionMode"] == "K8sJobMode"
    assert "status" not in made


def test_the_status_a_client_sends_along_is_left_out(client: Client):
    _, made = client.call(
        "POST", client.at("rayjobs"), {**rayjob(), "status": {"jobStatus": "SUCCEEDED"}}
    )
    assert "status" not in made
    path = client.at("rayjobs", "job") + "/status"
    _, told = client.call(
        "PATCH",
        path,
        {"status": {"jobStatus": "RUNNING"}, "spec": {"jobId": "x"}},
        Content_Type=MERGE,
    )
    assert told["status"]["jobStatus"] == "RUNNING"
    assert "jobId" not in told["spec"]
    assert told["metadata"]["generation"] == 1


WRONG: dict[str, tuple[Body, int, str]] = {
    "an unknown field": ({"bogus": 1}, 400, 'unknown field "spec.bogus"'),
    "a wrong type": ({"backoffLimit": "one"}, 422, "spec.backoffLimit"),
    "a number that is too large": ({"backoffLimit": 2**31}, 422, "int32"),
    "another operator": ({"managedBy": "me"}, 422, "managedBy"),
    "no containers": (
        {"rayClusterSpec": {"headGroupSpec": {"template": {"spec": {"containers": []}}}}},
        422,
        "containers",
    ),
    "a quantity that is none": (
        with_container(resources={"limits": {"cpu": "much"}}),
        422,
        "resources.limits.cpu",
    ),
    "more asked for than allowed": (
        with_container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "1500m"}}),
        422,
        "must be <= limit",
    ),
    "part of a GPU": (
        with_container(resources={"limits": {"nvidia.com/gpu": "500m"}}),
        422,
        "must be an integer",
    ),
    "a mount of nothing": (
        with_container(volumeMounts=[{"name": "fsx", "mountPath": "/fsx"}]),
        422,
        'Not found: "fsx"',
    ),
    "a variable twice": (
        with_container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
        422,
        "Duplicate value",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_rayjob_is_refused_for(client: Client, wrong: str):
    spec, code, words = WRONG[wrong]
    answered, status = client.make(**spec)
    assert answered == code
    assert words in status["message"]
    assert client.call("GET", client.at("rayjobs"))[1]["items"] == []


@pytest.mark.parametrize("name", ["1job", "Job", "a" * 48, "job-", "a.b", ""])
def test_a_name_that_kuberay_cannot_use_is_refused(client: Client, name: str):
    assert client.make(name)[0] == 422


def test_who_manages_a_rayjob_never_changes(client: Client):
    client.make(managedBy="ray.io/kuberay-operator")
    path = client.at("rayjobs", "job")
    change = {"spec": {"managedBy": "kueue.x-k8s.io/multikueue"}}
    code, status = client.call("PATCH", path, change, Content_Type=MERGE)
    assert (code, "immutable" in status["message"]) == (422, True)


def test_two_writers_of_one_object_are_a_conflict(client: Client):
    _, made = client.make()
    path = client.at("rayjobs", "job")
    first = {**made, "spec": {**made["spec"], "activeDeadlineSeconds": 1}}
    code, changed = client.call("PUT", path, first)
    assert (code, changed["metadata"]["generation"]) == (200, 2)
    code, status = client.call("PUT", path, first)
    assert (code, status["reason"]) == (409, "Conflict")
    assert (
        client.call("PUT", path, changed)[1]["metadata"]["resourceVersion"]
        == (changed["metadata"]["resourceVersion"])
    ), "nothing changed"
    assert client.make()[1]["reason"] == "AlreadyExists"


def test_patches_take_away_and_add(client: Client):
    client.make(jobId="one")
    path = client.at("rayjobs", "job")
    _, merged = client.call("PATCH", path, {"spec": {"jobId": None}}, Content_Type=MERGE)
    assert "jobId" not in merged["spec"]
    steps = [
        {"op": "test", "path": "/spec/backoffLimit", "value": 0},
        {"op": "add", "path": "/metadata/labels/c~1d", "value": "e"},
        {"op": "remove", "path": "/metadata/labels/a"},
    ]
    _, patched = client.call("PATCH", path, steps, Content_Type=JSON_PATCH)
    assert patched["metadata"]["labels"] == {"c/d": "e"}
    code, _ = client.call("PATCH", path, steps, Content_Type=JSON_PATCH)
    assert code == 400
    code, _ = client.call("PATCH", path, {}, Content_Type="application/strategic-merge-patch+json")
    assert code == 415


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("labelSelector=n%3D1", ["one"]),
        ("labelSelector=n!%3D1", ["job", "two"]),
        ("labelSelector=n+in+(1,2)", ["one", "two"]),
        ("labelSelector=n+notin+(1)", ["job", "two"]),
        ("labelSelector=n", ["one", "two"]),
        ("labelSelector=!n", ["job"]),
        ("fieldSelector=metadata.name%3Dtwo", ["two"]),
        ("limit=1", ["job"]),
    ],
)
def test_a_list_is_chosen_by_labels_and_fields(client: Client, selector: str, names: list[str]):
    client.make()
    for name, number in (("one", "1"), ("two", "2")):
        item = rayjob(name)
        item["metadata"]["labels"] = {"n": number}
        client.call("POST", client.at("rayjobs"), item)
    _, listed = client.call("GET", f"{client.at('rayjobs')}?{selector}")
    assert [item["metadata"]["name"] for item in listed["items"]] == names


def test_a_field_that_is_not_indexed_cannot_be_selected(client: Client):
    code, status = client.call("GET", client.at("rayjobs") + "?fieldSelector=spec.jobId%3Dx")
    assert (code, status["reason"]) == (400, "BadRequest")


def test_pages_and_metadata_alone_are_served(client: Client):
    for number in range(3):
        client.make(f"job-{number}")
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    path = client.at("rayjobs") + "?limit=2"
    _, page = client.call("GET", path, Accept=accept)
    assert page["kind"] == "PartialObjectMetadataList"
    assert [item.keys() for item in page["items"]] == [{"kind", "apiVersion", "metadata"}] * 2
    _, rest = client.call("GET", f"{path}&continue={page['metadata']['continue']}", Accept=accept)
    assert [item["metadata"]["name"] for item in rest["items"]] == ["job-2"]
    assert "continue" not in rest["metadata"]


def test_a_watch_from_a_forgotten_version_is_told_so(client: Client):
    client.make()
    client.cluster.store.history.forget()
    path = client.at("rayjobs") + "?watch=1&timeoutSeconds=2&resourceVersion=1"
    _, event = client.call("GET", path)
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_what_a_rayjob_owns_goes_with_it(client: Client, policy: str):
    cluster = client.cluster
    cluster.kubelet.ending_s = 20
    client.make()
    cluster.step()
    path = client.at("rayjobs", "job")
    client.call("DELETE", path, {"propagationPolicy": policy})
    cluster.step(2)
    is_there = client.call("GET", path)[0] == 200
    assert is_there == (policy == "Foreground"), "in the foreground its pods go first"
    cluster.clock.advance(20)
    cluster.step(2)
    assert client.call("GET", path)[0] == 404
    for plural in ("rayclusters", "pods"):
        assert client.call("GET", client.at(plural))[1]["items"] == []


def test_a_list_with_an_outage_answers_what_it_was_told(client: Client):
    client.cluster.server.outages.fail(429, times=1, retry_after_s=7)
    code, status = client.call("GET", "/version")
    assert (code, status["details"]["retryAfterSeconds"]) == (429, 7)
    client.cluster.server.down()
    with pytest.raises(urllib.error.URLError, match="refused"):
        client.call("GET", "/version")
    client.cluster.server.up()
    assert client.call("GET", "/version")[0] == 200
