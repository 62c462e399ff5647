"""Where the doctor reads: what an account and a cluster answer, and that nothing is changed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from accounts import Account, KubernetesThere
from botocore.exceptions import ClientError, EndpointConnectionError
from fakes.kube_api.cluster import CRDS, FakeCluster

from lambdas.adapters.kuberay.api import KubeApi
from lambdas.adapters.kuberay.endpoint import ClusterEndpoint
from lambdas.adapters.kuberay.token import ClusterToken
from relay.__main__ import main
from relay.doctor import arriving
from relay.doctor.answers import Missing, Unanswered
from relay.doctor.examination import Examination
from relay.doctor.reading import AwsReading, KubernetesReading


@pytest.fixture
def reading(aws: None) -> AwsReading:
    return AwsReading(boto3.Session())


@pytest.mark.parametrize(
    "operation", ["put_object", "delete_bucket", "create_stack", "start_execution", "Describe"]
)
def test_what_could_change_something_is_refused_before_it_is_called(
    reading: AwsReading, operation: str
) -> None:
    for ask in (reading.ask, reading.ask_all):
        with pytest.raises(ValueError, match="only reads"):
            ask("s3", operation, "x")


def test_what_is_there_is_found_and_what_is_not_is_missing(reading: AwsReading) -> None:
    boto3.client("s3").create_bucket(Bucket="there")
    assert reading.ask("s3", "get_bucket_versioning", Bucket="there")
    gone: list[tuple[str, str, dict[str, Any]]] = [
        ("s3", "get_bucket_versioning", {"Bucket": "gone"}),
        ("sqs", "get_queue_attributes", {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/1/no"}),
        ("dynamodb", "describe_table", {"TableName": "gone"}),
    ]
    for service, operation, parameters in gone:
        answer = reading.ask(service, operation, **parameters)
        assert isinstance(answer, Missing), answer
        assert f"{service}:{operation}" in answer.words


def test_pages_are_put_together(reading: AwsReading) -> None:
    client = boto3.client("dynamodb")
    for number in range(3):
        client.create_table(
            TableName=f"table-{number}",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    found = reading.ask_all(
        "dynamodb", "list_tables", "TableNames", PaginationConfig={"PageSize": 1}
    )
    assert found == {"TableNames": ["table-0", "table-1", "table-2"]}


class Refusing:
    """A session whose clients fail."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def client(self, *_: object, **__: object) -> Refusing:
        return self

    def describe_cluster(self, **_: object) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "words", "remedy"),
    [
        (
            ClientError({"Error": {"Code": "AccessDenied", "Message": "not you"}}, "x"),
            "eks:describe_cluster says AccessDenied: not you",
            "call eks:describe_cluster",
        ),
        (EndpointConnectionError(endpoint_url="https://eks"), "Could not connect", "try again"),
    ],
)
def test_what_is_refused_or_out_of_reach_is_unanswered(
    error: Exception, words: str, remedy: str
) -> None:
    answer = AwsReading(Refusing(error)).ask("eks", "describe_cluster", name="x")  # type: ignore[arg-type]
    assert isinstance(answer, Unanswered)
    assert words in answer.words
    assert remedy in answer.remedy


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    if not CRDS.exists():
        pytest.skip("the CRDs are not here")
    with FakeCluster(tmp_path) as made:
        made.furnish()
        yield made


class Eks:
    def __init__(self, cluster: FakeCluster) -> None:
        self.described = cluster.described

    def describe_cluster(self, name: str) -> dict[str, Any]:
        return {"cluster": self.described}


def kubernetes(cluster: FakeCluster) -> KubernetesReading:
    session = boto3.Session("AKIATEST", "a secret", region_name=cluster.region)
    token = ClusterToken(session, cluster.region, cluster.name, cluster.token_now)
    endpoint = ClusterEndpoint(Eks(cluster), cluster.name)  # type: ignore[arg-type]
    return KubernetesReading(KubeApi(endpoint, token), cluster.name)


def test_a_cluster_is_read_over_https_by_whoever_asks(cluster: FakeCluster) -> None:
    cluster.grant("AKIATEST")
    found = kubernetes(cluster)
    definition = found.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rayjobs.ray.io")
    assert not isinstance(definition, Missing | Unanswered)
    assert "v1" in [one["name"] for one in definition["spec"]["versions"]]
    claim = found.get(f"/api/v1/namespaces/{cluster.namespace}/persistentvolumeclaims/fsx")
    assert not isinstance(claim, Missing | Unanswered)
    assert claim["status"]["phase"] == "Bound"
    assert isinstance(found.get(f"/api/v1/namespaces/{cluster.namespace}/pods/none"), Missing)


def test_a_cluster_that_lets_nobody_in_says_so_without_the_runners_remedy(
    cluster: FakeCluster,
) -> None:
    answer = kubernetes(cluster).get(f"/api/v1/namespaces/{cluster.namespace}")
    assert isinstance(answer, Unanswered)
    assert "this function's role" not in answer.words
    assert "AmazonEKSAdminViewPolicy" in answer.remedy


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Account:
    """An account that the command arrives at."""
    made = Account()
    here = KubernetesThere()

    class Arrived(Examination):
        def __init__(self, _: object, stack: str, **given: Any) -> None:
            super().__init__(made, stack, **{**given, "connect": lambda _: here})

    monkeypatch.setattr(arriving, "Examination", Arrived)
    return made


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["relay", "doctor", "--aws", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_command_prints_findings_as_json_and_ends_as_the_account_is(
    aws: None,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import json

    assert run(monkeypatch, "--stack", "Mine", "--output", "json") == 1
    said = json.loads(capsys.readouterr().out)
    wrong = [one["name"] for one in said["findings"] if one["verdict"] == "wrong"]
    assert (said["stack"], said["healthy"], wrong) == ("Mine", False, ["clock"])
    assert set(said["findings"][0]) == {"name", "verdict", "seen", "remedy"}


def test_the_command_draws_what_is_wrong_with_its_remedy(
    aws: None,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = account.answers["cloudformation.describe_stacks"]
    account.answers["cloudformation.describe_stacks"] = lambda asked: {
        **before(asked), "ResponseMetadata": {}
    }  # fmt: skip
    account.answers["eks.describe_addon"] = Missing("no add-on")
    assert run(monkeypatch) == 1
    out, err = capsys.readouterr()
    assert "wrong   add-on eks-pod-identity-agent: no add-on" in out
    assert "→ aws eks create-addon" in out
    assert "1 wrong, 1 unknown" in err
    account.answers["eks.describe_addon"] = {"addon": {"status": "ACTIVE"}}
    assert run(monkeypatch) == 0


def test_without_a_region_there_is_nothing_to_look_at(
    aws: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    assert run(monkeypatch) == 3
    assert "no AWS region is set" in capsys.readouterr().err
