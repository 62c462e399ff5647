"""The CDK CLI works without a home folder that can be written, and says when the disk is full."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from relay.local.cdk_cli import _package_cache
from relay.local.errors import DeploymentError
from relay.local.places import LocalPlaces


def test_the_users_cache_is_used_where_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _package_cache(LocalPlaces(tmp_path / "stack")) == {}
    assert [one.name for one in (tmp_path / ".cache" / "aws" / "jsii").iterdir()] == []


def test_without_one_the_stack_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    places = LocalPlaces(tmp_path / "stack")
    (cache,) = _package_cache(places).values()
    assert Path(cache).is_relative_to(places.root)


def test_a_disk_that_is_nearly_full_is_named_beside_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "cdk-synth.log"
    assert "free" not in str(DeploymentError("cdk synth", log))
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=3 * 1024**2))
    said = str(DeploymentError("cdk synth", log))
    assert f"only 3 MiB free in {tmp_path}: make room" in said
