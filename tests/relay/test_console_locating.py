"""Which AWS a command speaks to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from botocore.exceptions import NoRegionError
from control_planes import Relay

from relay.console.local_stack import settings_for
from relay.console.locating import Location, Wish, adopt, local_root, local_up, locate
from relay.local.deployment import _last_digest
from relay.local.errors import DamagedStateError, LocalStackError
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of
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


def crash(root: Path) -> None:
    places = LocalPlaces(root)
    places.make()
    record = {"emulator": {"pid": 2**22 - 1, "created": 0.0}}
    places.processes.write_text(json.dumps(record))


def test_a_crashed_local_stack_is_said_so_and_never_passed_over(
    relay: Relay, tmp_path: Path
) -> None:
    crash(tmp_path / ".relay" / "local")
    ended = relay("runs")
    assert (ended.code, ended.out) == (5, "")
    assert "has crashed: `relay local up`" in ended.err
    assert "using" not in ended.err
    assert relay("runs", "--aws").code == 0


@pytest.mark.parametrize("endpoint", ["garbage", "127.0.0.1:4566", "ftp://host", "https://"])
def test_an_endpoint_that_is_no_address_is_wrong_usage(
    relay: Relay, monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    for verb in ("runs", "doctor"):
        ended = relay(verb)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert "AWS_ENDPOINT_URL" in ended.err


def test_neither_a_local_stack_nor_a_region_is_not_found(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(_where: object) -> None:
        raise NoRegionError

    monkeypatch.setattr("relay.console.control_plane.connect", connect)
    ended = relay("runs")
    assert ended.code == 3
    assert "no local stack is up here" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("content", ["{", "[]", '{"emulator": {"port": 1}}', '{"emulator": 3}'])
def test_a_damaged_state_file_is_named_with_what_to_do(
    relay: Relay, tmp_path: Path, content: str
) -> None:
    places = LocalPlaces(tmp_path / ".relay" / "local")
    places.make()
    for file, read in (
        (places.processes, lambda: Processes(places).names()),
        (places.ports, lambda: ports_of(places)),
        (places.deployed, lambda: _last_digest(places)),
    ):
        file.write_text(content)
        with pytest.raises(DamagedStateError, match=f"{file.name} is damaged: .*remove"):
            read()
    ended = relay("local", "status")
    assert (ended.code, ended.err.count("\n")) == (1, 1)


def test_a_folder_that_cannot_hold_a_stack_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match="go to another folder"):
        settings_for(LocalPlaces(tmp_path / "a\nb"), "Relay")


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
