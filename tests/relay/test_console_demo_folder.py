"""The demonstration empties no folder but its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from control_planes import Relay

from relay.console.demo_folder import MARKER, claim, empty


def test_a_folder_of_somebody_else_is_refused_and_left_as_it_was(
    relay: Relay, tmp_path: Path
) -> None:
    kept = tmp_path / "work" / "stack" / "thesis"
    kept.parent.mkdir(parents=True)
    kept.write_text("years")
    ended = relay("demo", "--folder", str(tmp_path / "work"))
    assert (ended.code, kept.read_text()) == (4, "years")
    assert "was not made by `relay demo`" in ended.err
    assert list(kept.parent.iterdir()) == [kept]


def test_a_link_is_never_followed(tmp_path: Path, relay: Relay) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / MARKER).touch()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "stack").symlink_to(tmp_path / "precious")
    ended = relay("demo", "--folder", str(tmp_path / "work"))
    assert ended.code == 4
    assert "is a link" in ended.err
    assert (tmp_path / "precious" / MARKER).exists()


@pytest.mark.parametrize("before", ["absent", "empty"])
def test_its_own_folder_is_emptied_but_not_what_links_in_it_point_to(
    tmp_path: Path, before: str
) -> None:
    mine, other = tmp_path / "stack", tmp_path / "other"
    if before == "empty":
        mine.mkdir()
    claim(mine)
    other.mkdir()
    (other / "kept").touch()
    (mine / "state").mkdir()
    (mine / "link").symlink_to(other)
    claim(mine)
    empty(mine)
    assert [one.name for one in mine.iterdir()] == [MARKER]
    assert (other / "kept").exists()
