"""What every test of a job may use."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from job_box import BUCKET, Box
from moto import mock_aws
from sample_pairs import make_pairs, openai_file

from contracts.artifact import ArtifactRef
from training.cluster import ThisProcess


@pytest.fixture(autouse=True)
def one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    """A bucket in this process; jobs run in this process too."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr("training.attempt.join", ThisProcess)
    # The last resort of a stuck job ends its process, which here is that of the tests.
    monkeypatch.setattr("training.stopping._LAST_RESORT_S", 3600.0)
    with mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        yield Box(client, tmp_path)


@pytest.fixture
def dropped(box: Box) -> Box:
    """A box with forty pairs in one drop, planned."""
    box.drop("pairs.jsonl", openai_file(make_pairs(40)))
    box.plan()
    return box


@pytest.fixture
def collected(dropped: Box) -> tuple[Box, dict[str, ArtifactRef]]:
    """The same after `collect`, and what it handed on."""
    return dropped, dict(dropped.finished("collect").artifacts)
