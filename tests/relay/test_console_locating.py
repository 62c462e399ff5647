"""Which AWS a command speaks to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from relay.console.locating import Location, Wish, adopt, local_root, local_up, locate
from relay.local.places import LocalPlaces
from relay.local.processes import Processes

LOCAL = Path("/somewhere/.relay/local")
ENDPOINT = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}


@pytest.mark.parametrize(
    ("wish", "environ", "up", "local", "profile", "stack"),
    [
        (Wish(), {}, None, None, None, "Relay"),
        (Wish(), {}, LOCAL, LOCAL, None, "Relay"),
        (Wish(stack="Mine"), {}, LOCAL, LOCAL, None, "Mine"),
        (Wish(), {"RELAY_STACK": "Mine"}, None, None, None, "Mine"),
        (Wish(stack="A"), {"RELAY_STACK": "B"}, None, None, None, "A"),
        (Wish(aws=True), {}, LOCAL, None, None, "Relay"),
        (Wish(profile="p"), {}, LOCAL, None, "p", "Relay"),
        (Wish(), ENDPOINT, LOCAL, None, None, "Relay"),
        (Wish(profile="p"), ENDPOINT, None, None, "p", "Relay"),
    ],
)
def test_where_to_go(
    wish: Wish,
    environ: dict[str, str],
    up: Path | None,
    local: Path | None,
    profile: str | None,
    stack: str,
) -> None:
    found = locate(wish, environ, up)
    assert (found.local, found.profile, found.stack) == (local, profile, stack)


def test_the_place_is_named() -> None:
    assert locate(Wish(), {}, LOCAL).words == f"the local stack in {LOCAL}"
    assert locate(Wish(), {}, None) == Location("Relay", None, None, "stack Relay in AWS")


def test_a_local_stack_is_up_while_its_aws_runs(tmp_path: Path) -> None:
    places = LocalPlaces(tmp_path)
    assert local_up(tmp_path) is None
    places.make()
    processes = Processes(places)
    processes.start("emulator", ["sleep", "60"], dict(os.environ))
    try:
        assert local_up(tmp_path) == tmp_path
    finally:
        processes.stop("emulator", 1)
    assert local_up(tmp_path) is None


def test_the_state_folder_may_be_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert local_root({}) == tmp_path / ".relay" / "local"
    assert local_root({"RELAY_LOCAL": "/x"}) == Path("/x")


def test_an_adopted_local_stack_shuts_out_every_other_aws(tmp_path: Path) -> None:
    LocalPlaces(tmp_path).make()
    others = ("PROFILE", "SESSION_TOKEN", "ACCESS_KEY_ID", "ENDPOINT_URL_S3", "ROLE_ARN")
    environ = {f"AWS_{name}": "real" for name in others}
    adopt(tmp_path, environ)
    assert environ["AWS_ENDPOINT_URL"].startswith("https://127.0.0.1:")
    assert "real" not in environ.values()
