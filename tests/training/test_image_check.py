"""`make image-check`, where it can't check: it says what is missing, and how to get it."""

from pathlib import Path

import pytest

from training.image import check, wheels
from training.image.buildah import Buildah
from training.image.errors import CannotCheck, ImageWrong
from training.image.tools import missing

HERE = {"uid": 0, "system": "Linux", "machine": "x86_64", "python": (3, 11)}


def there(_: str) -> str:
    return "/usr/bin/it"


def test_a_machine_with_everything_lacks_nothing() -> None:
    assert missing(there, **HERE) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"uid": 1000}, "need root"),
        ({"system": "Darwin"}, "this machine is Darwin on x86_64"),
        ({"machine": "aarch64"}, "this machine is Linux on aarch64"),
        ({"python": (3, 13)}, "this is 3.13"),
    ],
)
def test_each_thing_that_is_missing_is_a_sentence(change: dict[str, object], said: str) -> None:
    (lack,) = missing(there, **(HERE | change))
    assert said in lack


def test_a_tool_that_is_missing_is_named_with_the_way_to_get_it() -> None:
    lacks = missing(lambda _: None, **HERE)
    assert [lack.split()[0] for lack in lacks] == ["buildah", "debootstrap"]
    assert all(f"apt-get install {lack.split()[0]}" in lack for lack in lacks)


def test_without_the_tools_it_ends_by_3_and_touches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "missing", lambda: ["buildah is missing", "use sudo"])
    assert check.main([str(tmp_path / "work")]) == 3
    assert "can't be checked here: buildah is missing; use sudo" in capsys.readouterr().err
    assert not (tmp_path / "work").exists()


def test_an_image_that_is_wrong_ends_by_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(*_: object) -> None:
        raise ImageWrong("exit 1, not 0")

    monkeypatch.setattr(check, "missing", list)
    monkeypatch.setattr(check, "build", wrong)
    assert check.main([str(tmp_path)]) == 1
    assert "the image is wrong: exit 1, not 0" in capsys.readouterr().err


def a_buildah(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Buildah:
    tool = folder / "bin" / "buildah"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    return Buildah(folder, folder / "log")


def test_what_buildah_refuses_is_told_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "echo 'mount: not permitted' >&2; echo 'exit status 1' >&2; exit 1"
    buildah = a_buildah(tmp_path, monkeypatch, script)
    with pytest.raises(CannotCheck, match="buildah from failed: mount: not permitted"):
        buildah.ask("from", "scratch")
    with pytest.raises(ImageWrong, match="can't be built: mount: not permitted"):
        buildah.build(["."])


def test_buildah_keeps_to_its_own_folder_and_needs_no_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    buildah = a_buildah(tmp_path, monkeypatch, 'echo "$@"')
    said = buildah.ask("images")
    assert said == f"--root {tmp_path}/store --runroot {tmp_path}/run --storage-driver vfs images"


def test_wheels_that_cannot_be_had_are_said_with_the_index_to_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"no-such-wheel-at-all==1 --hash=sha256:{'0' * 64}\n")
    monkeypatch.setattr(wheels, "HERE", tmp_path)
    monkeypatch.setattr(wheels, "LOCKS", (lock.name,))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(CannotCheck, match=r"no-such-wheel-at-all.*PIP_EXTRA_INDEX_URL"):
        wheels.fetch(tmp_path / "wheels")
