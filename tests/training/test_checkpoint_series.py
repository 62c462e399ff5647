"""Checkpoints that are complete or do not exist, whatever happens while they are written."""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from disk_faults import before_effect, killed_at

from contracts.artifact import MANIFEST
from contracts.errors import ArtifactCorrupt, AttemptFenced
from training.checkpoints.folders import (
    commit_folder,
    folder_of,
    verify_folder,
)
from training.checkpoints.pointer import POINTER, Pointer
from training.checkpoints.resuming import Search, newest_complete
from training.checkpoints.series import Place, Series

RUN = "r260101-120000-aaaaaa"
OTHER_RUN = "r260101-120000-bbbbbb"


def series(root: Path, attempt: int = 1, run: str = RUN) -> Series:
    made = Series(root / "series", run, attempt)
    made.open()
    return made


def holding(step: int) -> Callable[[Path], None]:
    def fill(folder: Path) -> None:
        (folder / "deep").mkdir()
        (folder / "weights").write_bytes(b"weights of step %d" % step)
        (folder / "deep" / "state").write_bytes(b"state of step %d" % step)

    return fill


def search(found: Series) -> Search:
    return newest_complete(found, refuse=lambda folder: None)


def newest(found: Series) -> Place | None:
    place = search(found).found
    if place is not None:
        assert (place.folder / "weights").read_bytes() == b"weights of step %d" % place.step
        assert (place.folder / "deep" / "state").read_bytes() == b"state of step %d" % place.step
    return place


def test_an_empty_series_has_nothing_and_complains_of_nothing(tmp_path: Path) -> None:
    assert search(series(tmp_path)) == Search(None)


def test_a_kill_at_any_write_leaves_the_step_before_or_the_whole_new_one(tmp_path: Path) -> None:
    for number in range(1, 60):
        root = tmp_path / str(number)
        writer = series(root)
        writer.save(2, holding(2))
        lived = killed_at(number, lambda: writer.save(4, holding(4)))  # noqa: B023
        reader = series(root, attempt=2)
        place = newest(reader)
        assert place is not None
        assert place.step in ({4} if lived else {2, 4})
        assert list(reader.root.rglob(".staging-*")) == []
        reader.save(6, holding(6))
        assert newest(reader) == Place(reader.root, 2, 6)
        if lived:
            break
    assert lived
    assert number > 12


@pytest.mark.parametrize("trouble", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_disk_that_fails_at_any_write_keeps_the_step_before(tmp_path: Path, trouble: int) -> None:
    def fail() -> None:
        raise OSError(trouble, "the disk says no")

    number, failed = 0, True
    while failed:
        number += 1
        root = tmp_path / str(number)
        writer = series(root)
        writer.save(2, holding(2))
        with before_effect(number, fail):
            try:
                writer.save(4, holding(4))
                failed = False
            except OSError:
                pass
        place = newest(series(root, attempt=2))
        assert place is not None
        assert place.step in ({2, 4} if failed else {4})
    assert number > 12


@pytest.mark.parametrize("name", ["weights", "deep/state", MANIFEST])
def test_a_flipped_bit_in_any_file_sends_the_reader_one_step_back(
    tmp_path: Path, name: str
) -> None:
    writer = series(tmp_path)
    writer.save(2, holding(2))
    writer.save(4, holding(4))
    path = Place(writer.root, 1, 4).folder / name
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        found = search(writer)
        assert found.found == Place(writer.root, 1, 2)
        assert "skipped step 4 of attempt 1" in found.skipped[0]


@pytest.mark.parametrize("damage", ["truncate", "remove", "extra", "link", "folder"])
def test_files_that_are_not_those_of_the_manifest_send_the_reader_one_step_back(
    tmp_path: Path, damage: str
) -> None:
    writer = series(tmp_path)
    writer.save(2, holding(2))
    writer.save(4, holding(4))
    folder = Place(writer.root, 1, 4).folder
    weights = folder / "weights"
    whole = weights.read_bytes()
    if damage == "extra":
        (folder / "pickle.bin").write_bytes(b"not listed")
    else:
        weights.unlink()
    if damage == "truncate":
        weights.write_bytes(whole[:-1])
    elif damage == "link":
        (tmp_path / "elsewhere").write_bytes(whole)
        weights.symlink_to(tmp_path / "elsewhere")
    elif damage == "folder":
        weights.mkdir()
    assert newest(writer) == Place(writer.root, 1, 2)


def test_a_broken_pointer_is_only_a_broken_hint(tmp_path: Path) -> None:
    writer = series(tmp_path)
    writer.save(2, holding(2))
    (writer.root / POINTER).write_bytes(b"{half")
    found = search(writer)
    assert found.found == Place(writer.root, 1, 2)
    assert found.skipped[0].startswith("the pointer cannot be used")


def test_a_checkpoint_of_another_run_or_step_is_not_taken(tmp_path: Path) -> None:
    writer = series(tmp_path)
    writer.save(2, holding(2))
    commit_folder(
        Place(writer.root, 1, 9).folder, holding(9), kind="checkpoint", run=OTHER_RUN, step=9
    )
    shutil.copytree(Place(writer.root, 1, 2).folder, Place(writer.root, 1, 7).folder)
    found = search(writer)
    assert found.found == Place(writer.root, 1, 2)
    assert "is of run r260101-120000-bbbbbb, step 9" in found.skipped[0]
    assert "step 2" in found.skipped[1]


def test_the_newest_step_of_any_attempt_wins(tmp_path: Path) -> None:
    series(tmp_path).save(6, holding(6))
    second = series(tmp_path, attempt=2)
    second.save(4, holding(4))
    assert newest(series(tmp_path, attempt=3)) == Place(second.root, 1, 6)


def test_a_caller_can_refuse_a_checkpoint_and_its_reason_is_told(tmp_path: Path) -> None:
    writer = series(tmp_path)
    writer.save(2, holding(2))
    found = newest_complete(writer, refuse=lambda folder: "another recipe")
    assert found == Search(
        None, ("skipped step 2 of attempt 1: another recipe",), (Place(writer.root, 1, 2),)
    )


def test_two_checkpoints_are_kept_and_a_damaged_newer_one_never_costs_a_good_one(
    tmp_path: Path,
) -> None:
    first = series(tmp_path)
    for step in (2, 4, 6, 8):
        first.save(step, holding(step))
    assert [place.step for place in first.places()] == [8, 6]
    (Place(first.root, 1, 8).folder / "weights").write_bytes(b"damaged")
    second = series(tmp_path, attempt=2)
    for place in search(second).refused:
        second.set_aside(place)
    assert newest(second) == Place(first.root, 1, 6)
    second.save(7, holding(7))
    assert [(place.attempt, place.step) for place in second.places()] == [(2, 7), (1, 6)]


def test_an_older_attempt_may_not_move_the_pointer_once_a_newer_one_began(tmp_path: Path) -> None:
    old = series(tmp_path)
    old.save(2, holding(2))
    new = series(tmp_path, attempt=2)
    with pytest.raises(AttemptFenced, match="attempt 2 has taken over"):
        old.save(4, holding(4))
    new.save(6, holding(6))
    with pytest.raises(AttemptFenced):
        old.save(8, holding(8))
    assert Pointer.read(new.root)[0].attempt == 2


def test_a_newer_attempt_sweeps_up_what_an_older_one_was_writing(tmp_path: Path) -> None:
    old = series(tmp_path)

    def interrupted(folder: Path) -> None:
        holding(4)(folder)
        series(tmp_path, attempt=2)

    with pytest.raises(FileNotFoundError):
        old.save(4, interrupted)
    assert newest(series(tmp_path, attempt=2)) is None


def test_an_artifact_is_verified_by_the_digest_that_was_handed_on(tmp_path: Path) -> None:
    made = commit_folder(tmp_path / "a b", holding(1), kind="episodes", run=RUN)
    other = commit_folder(tmp_path / "other", holding(2), kind="episodes", run=RUN)
    assert folder_of(made) == tmp_path / "a b"
    assert verify_folder(folder_of(made), made).run == RUN
    with pytest.raises(ArtifactCorrupt, match="was handed on"):
        verify_folder(folder_of(other), made)
    with pytest.raises(ArtifactCorrupt, match="holds episodes"):
        verify_folder(folder_of(made), made.model_copy(update={"kind": "checkpoint"}))


def test_a_folder_that_exists_is_never_written_over(tmp_path: Path) -> None:
    commit_folder(tmp_path / "it", holding(1), kind="episodes", run=RUN)
    with pytest.raises(OSError, match="not empty"):
        commit_folder(tmp_path / "it", holding(2), kind="episodes", run=RUN)
    assert (tmp_path / "it" / "weights").read_bytes() == b"weights of step 1"
    assert list(tmp_path.glob(".staging-*")) == []
