"""The CDK CLI works without a home folder that can be written."""

from pathlib import Path

import pytest

from relay.local.cdk_cli import _package_cache
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
