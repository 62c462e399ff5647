"""HTTPS to a cluster: what is tried again, and what each refusal means, over a real socket."""

from __future__ import annotations

import base64
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import urllib3
from botocore.exceptions import ClientError, EndpointConnectionError
from fakes.clock import FakeClock
from fakes.kube_api.tls import make_tls
from kuberay.conftest import Stopwatch, StubApi, Told
from kuberay.signed import token

from contracts.errors import ClusterRefused, JobInvalid, ServiceUnavailable
from lambdas.adapters.kuberay import api as api_module
from lambdas.adapters.kuberay.api import KubeApi
from lambdas.adapters.kuberay.cluster import Cluster
from lambdas.adapters.kuberay.endpoint import ClusterEndpoint
from lambdas.adapters.kuberay.trying import BUDGET_S, REST_S, TRIES, Patience


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return make_tls(tmp_path_factory.mktemp("tls")).ca


class Eks:
    """Answers DescribeCluster as it is told, and counts."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls = 0

    def describe_cluster(self, *, name: str) -> dict[str, Any]:
        self.calls += 1
        told = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(told, Exception):
            raise told
        return {"cluster": told}


def described(url: str, ca: bytes) -> dict[str, Any]:
    data = base64.b64encode(ca).decode()
    return {"status": "ACTIVE", "endpoint": url, "certificateAuthority": {"data": data}}


def refusal(code: str, status: int) -> ClientError:
    told = {
        "Error": {"Code": code, "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(told, "DescribeCluster")  # type: ignore[arg-type]


class Connected:
    def __init__(self, eks: Eks, clock: FakeClock, stopwatch: Stopwatch) -> None:
        self.eks = eks
        self.token = token(clock)
        self.api = KubeApi(
            ClusterEndpoint(eks, "team"),  # type: ignore[arg-type]
            self.token,
            Patience(now=stopwatch.now, sleep=stopwatch.sleep, chance=stopwatch.chance),
        )


@pytest.fixture
def connected(stub: StubApi, authority: bytes, clock: FakeClock, stopwatch: Stopwatch) -> Connected:
    return Connected(Eks(described(stub.url, authority)), clock, stopwatch)


def status(code: int, message: str, reason: str = "") -> Told:
    return Told(code, {"kind": "Status", "message": message, "reason": reason, "code": code})


def test_a_call_says_who_it_is_and_what_it_wants(connected: Connected, stub: StubApi) -> None:
    stub.tell(Told(201, {"kind": "RayJob"}))
    answer = connected.api.call("POST", "/apis/x", query={"a": "b c"}, body={"kind": "RayJob"})
    (asked,) = stub.asked
    assert (answer.status, answer.json()) == (201, {"kind": "RayJob"})
    assert (asked.method, asked.target, asked.body) == ("POST", "/apis/x?a=b+c", {"kind": "RayJob"})
    assert asked.token == f"Bearer {connected.token.value()}"
    assert connected.eks.calls == 1
    connected.api.call("GET", "/apis/x")
    assert connected.eks.calls == 1


@pytest.mark.parametrize("code", [404, 409])
def test_an_answer_about_the_object_is_no_trouble(
    connected: Connected, stub: StubApi, code: int
) -> None:
    stub.tell(status(code, "is not as you think"))
    assert connected.api.call("GET", "/x").status == code
    assert len(stub.asked) == 1


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again_with_jitter(
    connected: Connected, stub: StubApi, stopwatch: Stopwatch, code: int
) -> None:
    stub.tell(status(code, "etcdserver: request timed out"), status(code, "again"), Told(200))
    assert connected.api.call("GET", "/x").status == 200
    assert len(stub.asked) == 3
    assert stopwatch.slept == [0.4, 0.8]


def test_a_throttled_call_waits_as_long_as_it_is_asked_to(
    connected: Connected, stub: StubApi, stopwatch: Stopwatch
) -> None:
    stub.tell(Told(429, headers=(("Retry-After", "3"),)), Told(200))
    assert connected.api.call("GET", "/x").status == 200
    assert stopwatch.slept == [3.0]


def test_a_wait_beyond_the_budget_is_not_begun(
    connected: Connected, stub: StubApi, stopwatch: Stopwatch
) -> None:
    stub.tell(Told(429, headers=(("Retry-After", "60"),)))
    with pytest.raises(ServiceUnavailable, match="429"):
        connected.api.call("GET", "/x")
    assert (len(stub.asked), stopwatch.slept) == (1, [])


def test_tries_are_bounded_and_then_nobody_calls_for_a_while(
    connected: Connected, stub: StubApi, stopwatch: Stopwatch
) -> None:
    stub.tell(status(503, "the server is currently unable to handle the request"))
    with pytest.raises(ServiceUnavailable, match="GET /x: 503 the server is currently unable"):
        connected.api.call("GET", "/x")
    assert len(stub.asked) == TRIES
    assert sum(stopwatch.slept) <= BUDGET_S
    with pytest.raises(ServiceUnavailable, match="did not answer a moment ago"):
        connected.api.call("GET", "/x")
    assert len(stub.asked) == TRIES
    stopwatch.seconds += REST_S
    stub.tell(Told(200))
    assert connected.api.call("GET", "/x").status == 200


def test_a_time_out_and_a_lost_connection_are_tried_again(
    connected: Connected, stub: StubApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_module, "_TIMEOUT", urllib3.Timeout(connect=1, read=0.2))
    stub.tell(Told(after_s=0.6), Told(hangs_up=True), Told(200))
    assert connected.api.call("GET", "/x").status == 200
    assert len(stub.asked) == 3


def test_nobody_listening_is_trouble_that_may_pass(
    authority: bytes, clock: FakeClock, stopwatch: Stopwatch
) -> None:
    lost = Connected(Eks(described("http://127.0.0.1:1", authority)), clock, stopwatch)
    with pytest.raises(ServiceUnavailable, match="GET /x"):
        lost.api.call("GET", "/x")
    assert len(stopwatch.slept) == TRIES - 1


def test_an_unknown_token_is_made_anew_once(
    connected: Connected, stub: StubApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = iter(["old", "new"])
    monkeypatch.setattr(connected.token, "_make", lambda: next(made))
    stub.tell(status(401, "Unauthorized"), Told(200))
    assert connected.api.call("GET", "/x").status == 200
    assert [asked.token for asked in stub.asked] == ["Bearer old", "Bearer new"]
    assert connected.eks.calls == 2


def test_a_role_that_is_not_known_is_told_what_it_lacks(
    connected: Connected, stub: StubApi
) -> None:
    stub.tell(status(401, "Unauthorized"))
    with pytest.raises(ClusterRefused, match="access entry of type STANDARD on cluster team"):
        connected.api.call("GET", "/x")
    assert len(stub.asked) == 2


def test_a_role_that_may_not_is_told_what_it_lacks(connected: Connected, stub: StubApi) -> None:
    said = 'rayjobs.ray.io is forbidden: User "x" cannot create resource "rayjobs"'
    stub.tell(status(403, said, "Forbidden"))
    with pytest.raises(ClusterRefused) as caught:
        connected.api.call("POST", "/x", body={})
    assert said in str(caught.value)
    assert "AmazonSagemakerHyperpodTrainingPolicy" in str(caught.value)
    assert len(stub.asked) == 1


def test_a_full_namespace_is_no_lack_of_rights(connected: Connected, stub: StubApi) -> None:
    stub.tell(status(403, 'rayjobs "x" is forbidden: exceeded quota: team, requested: 1'))
    with pytest.raises(ServiceUnavailable, match="waiting for quota"):
        connected.api.call("POST", "/x", body={})


@pytest.mark.parametrize("code", [400, 405, 413, 415, 422])
def test_an_object_that_is_not_taken_is_permanent(
    connected: Connected, stub: StubApi, code: int
) -> None:
    stub.tell(status(code, "spec.backoffLimit: Invalid value"))
    with pytest.raises(JobInvalid, match=f"{code} spec.backoffLimit: Invalid value"):
        connected.api.call("POST", "/x", body={})


@pytest.mark.parametrize("text", ["<html>", "[]", ""])
def test_an_answer_of_a_stranger_on_the_way_is_trouble_that_may_pass(
    connected: Connected, stub: StubApi, text: str
) -> None:
    stub.tell(Told(200, text or " "))
    with pytest.raises(ServiceUnavailable, match="answered with no"):
        connected.api.call("GET", "/x").json()


def test_no_error_holds_the_token(connected: Connected, stub: StubApi) -> None:
    for told in (status(503, "x"), status(401, "x"), status(422, "x")):
        stub.tell(told)
        with pytest.raises((ServiceUnavailable, ClusterRefused, JobInvalid)) as caught:
            connected.api.call("GET", "/x")
        assert "k8s-aws-v1" not in str(caught.value)
        connected.api._patience._down_until = 0


@pytest.fixture
def other_tls(tmp_path: Path) -> Iterator[tuple[str, bytes]]:
    """A TLS server whose authority is its own: its address, and that authority."""
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Nothing."""

    made = make_tls(tmp_path)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.socket = made.context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_address[1]}", made.ca
    server.shutdown()
    server.server_close()


def test_a_cluster_made_anew_is_asked_for_its_authority_again(
    other_tls: tuple[str, bytes], authority: bytes, clock: FakeClock, stopwatch: Stopwatch
) -> None:
    url, its_own = other_tls
    eks = Eks(described(url, authority), described(url, its_own))
    made = Connected(eks, clock, stopwatch)
    assert made.api.call("GET", "/x").status == 200
    assert eks.calls == 2


def test_a_server_of_another_authority_is_never_told_the_token(
    other_tls: tuple[str, bytes], authority: bytes, clock: FakeClock, stopwatch: Stopwatch
) -> None:
    made = Connected(Eks(described(other_tls[0], authority)), clock, stopwatch)
    with pytest.raises(ServiceUnavailable, match="SSLError"):
        made.api.call("GET", "/x")


def test_only_the_clusters_authority_is_trusted_and_names_are_checked(authority: bytes) -> None:
    context = api_module._trust(authority.decode())
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert len(context.get_ca_certs()) == 1


def test_an_eks_that_does_not_answer_is_asked_once_a_while(
    authority: bytes, stub: StubApi, clock: FakeClock, stopwatch: Stopwatch
) -> None:
    """A turn of many jobs would otherwise wait for it with each of them."""
    eks = Eks(EndpointConnectionError(endpoint_url="https://eks"), described(stub.url, authority))
    made = Connected(eks, clock, stopwatch)
    for _ in range(3):
        with pytest.raises(ServiceUnavailable):
            made.api.call("GET", "/x")
    assert eks.calls == 1
    stopwatch.seconds += REST_S
    assert made.api.call("GET", "/x").status == 200


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (refusal("ResourceNotFoundException", 404), ClusterRefused, "is the name right"),
        (refusal("AccessDeniedException", 403), ClusterRefused, "eks:DescribeCluster"),
        (refusal("ThrottlingException", 429), ServiceUnavailable, "ThrottlingException"),
        (refusal("ServerException", 500), ServiceUnavailable, "ServerException"),
        (EndpointConnectionError(endpoint_url="https://eks"), ServiceUnavailable, "https://eks"),
        ({"status": "CREATING"}, ServiceUnavailable, "team is CREATING, without an endpoint"),
    ],
)
def test_a_cluster_that_cannot_be_found_is_typed(
    answer: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        ClusterEndpoint(Eks(answer), "team").get()  # type: ignore[arg-type]


def test_a_cluster_is_asked_in_its_namespace_only(connected: Connected, stub: StubApi) -> None:
    cluster = Cluster(connected.api, "team-a")
    stub.tell(Told(200, {"items": [], "metadata": {}}))
    cluster.create({})
    cluster.get("x")
    cluster.delete("x")
    list(cluster.labels_of("relay-tests"))
    cluster.pods("x")
    cluster.events("x")
    cluster.workloads("uid")
    cluster.log("x", "ray-head")
    rayjobs = "/apis/ray.io/v1/namespaces/team-a/rayjobs"
    kueue = "/apis/kueue.x-k8s.io/{}/namespaces/team-a/workloads"
    found = [(asked.method, urlsplit(asked.target).path) for asked in stub.asked]
    assert found == [
        ("POST", rayjobs),
        ("GET", f"{rayjobs}/x"),
        ("DELETE", f"{rayjobs}/x"),
        ("GET", rayjobs),
        ("GET", "/api/v1/namespaces/team-a/pods"),
        ("GET", "/api/v1/namespaces/team-a/events"),
        ("GET", kueue.format("v1beta1")),
        ("GET", kueue.format("v1beta2")),
        ("GET", "/api/v1/namespaces/team-a/pods/x/log"),
    ]
    assert stub.asked[2].body == {"propagationPolicy": "Foreground"}


def test_a_list_is_read_page_by_page(connected: Connected, stub: StubApi) -> None:
    def page(name: str, following: str) -> Told:
        item = {"metadata": {"name": name, "labels": {"relay/run": name}}}
        return Told(200, {"items": [item], "metadata": {"continue": following}})

    stub.tell(page("a", "more"), page("b", ""))
    found = list(Cluster(connected.api, "team-a").labels_of("relay-tests"))
    assert found == [{"relay/run": "a"}, {"relay/run": "b"}]
    queries = [parse_qs(urlsplit(asked.target).query) for asked in stub.asked]
    assert [query.get("continue") for query in queries] == [None, ["more"]]
    assert {query["labelSelector"][0] for query in queries} == {"relay/bucket=relay-tests"}


def test_what_is_not_there_is_nothing(connected: Connected, stub: StubApi) -> None:
    cluster = Cluster(connected.api, "team-a")
    stub.tell(status(404, "not found"))
    assert cluster.get("x") is None
    cluster.delete("x")
    assert cluster.workloads("uid") == []
    assert cluster.log("x", "ray-head") == ""
    with pytest.raises(ServiceUnavailable, match="is KubeRay installed"):
        cluster.create({})


@pytest.mark.parametrize("code", [400, 500, 503])
def test_a_log_that_cannot_be_had_is_empty_and_says_nothing_of_the_api(
    connected: Connected, stub: StubApi, stopwatch: Stopwatch, code: int
) -> None:
    """400: the container has not started; 5xx: its node does not answer."""
    cluster = Cluster(connected.api, "team-a")
    stub.tell(status(code, "container is waiting to start"), Told(200))
    assert cluster.log("x", "ray-head") == ""
    assert stopwatch.slept == []
    assert cluster.get("x") == {}
