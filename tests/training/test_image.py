"""The jobs' image, as far as it can be judged without building it, as `image-check` does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from training.image.base_fit import faults, locked
from training.image.lock import Pin, divide, pins_of, project_names
from training.stopping import _LAST_RESORT_S, GRACE_S

ROOT = Path(__file__).parents[2]
IMAGE = ROOT / "training" / "image"
DOCKERFILE = (ROOT / "training" / "Dockerfile").read_text()
PIN = re.compile(r"([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}")
FITS = {"ray_there": "2.60.0", "python": (3, 11), "machine": "x86_64"}


def pins(name: str) -> dict[str, str]:
    lines = [one for one in (IMAGE / name).read_text().splitlines() if not one.startswith("#")]
    found = [PIN.fullmatch(line) for line in lines]
    assert all(found), f"{name} has a line without version or hash"
    return {match[1]: match[2] for match in found if match}


def project() -> dict[str, str]:
    lines = (line.partition("==") for line in (ROOT / "requirements.txt").read_text().splitlines())
    return {re.sub(r"[._]", "-", name.lower()): version for name, _, version in lines}


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    said = subprocess.run(
        [hadolint, "--no-color", ROOT / "training" / "Dockerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


def test_every_locked_version_is_the_projects_own_and_every_file_has_its_hash() -> None:
    ours, image = project(), pins("requirements.lock")
    assert {name: ours[name] for name in image} == image
    assert pins("torch-cuda.lock")["torch"] == ours["torch"]
    assert pins("torch-cpu.lock") == {"torch": f"{ours['torch']}+cpu"}
    assert not set(image) & set(pins("torch-cuda.lock"))


def test_all_that_jobs_ask_for_is_locked_and_nothing_of_the_control_plane() -> None:
    wanted = (IMAGE / "requirements.in").read_text().splitlines()
    names = {one.partition("[")[0] for one in wanted if not one.startswith("#")}
    image = set(pins("requirements.lock"))
    assert names - image == {"torch"}
    assert not image & {"aws-cdk-lib", "aws-lambda-powertools", "pytest", "moto", "ministack"}


def test_the_image_copies_only_what_jobs_import() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE)
    folders = [one for line in copied for one in line.split() if not one.startswith("training/")]
    assert folders == ["contracts", "trajectories", "training"]
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    rules = [line for line in ignore if line and not line.startswith("#")]
    assert rules[:4] == ["*", "!contracts", "!trajectories", "!training"]


def test_the_image_is_not_roots_and_gives_a_checkpoint_longer_than_rays_three_seconds() -> None:
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)[-1] == "1000:1000"
    wait = re.search(r"RAY_JOB_STOP_WAIT_TIME_S=(\d+)", DOCKERFILE)
    assert wait is not None
    assert int(wait[1]) > GRACE_S + _LAST_RESORT_S


def test_a_base_has_no_default() -> None:
    default = re.search(r'^ARG BASE="(.+)"$', DOCKERFILE, re.MULTILINE)
    assert default is not None
    assert default[1].startswith("BASE is not set: ")


def test_a_base_that_fits_has_no_faults() -> None:
    assert faults("rayproject/ray@sha256:0", "2.60.0", **FITS) == []


@pytest.mark.parametrize(
    ("base", "change", "said"),
    [
        ("rayproject/ray:2.60.0", {}, "name it by its digest"),
        ("r@sha256:0", {"ray_there": None}, "has no Ray, the lock has 2.60.0"),
        ("r@sha256:0", {"ray_there": "2.59.0"}, "has Ray 2.59.0, the lock has 2.60.0"),
        ("r@sha256:0", {"python": (3, 12)}, "take a base of the py311 kind"),
        ("r@sha256:0", {"machine": "aarch64"}, "the locks are for x86_64"),
    ],
)
def test_what_keeps_an_image_from_being_the_base_is_said(
    base: str, change: dict[str, object], said: str
) -> None:
    (fault,) = faults(base, "2.60.0", **(FITS | change))
    assert said in fault


def test_the_version_that_the_base_must_have_is_read_from_the_lock() -> None:
    assert locked("ray", (IMAGE / "requirements.lock").read_text()) == project()["ray"]
    assert locked("no-such", "ray==1 --hash=sha256:0\n") == ""


def test_a_report_of_pip_becomes_pins_with_what_only_cuda_brings_apart() -> None:
    def item(name: str, version: str) -> dict[str, object]:
        archive = {"archive_info": {"hashes": {"sha256": "0" * 64}}}
        return {"metadata": {"name": name, "version": version}, "download_info": archive}

    report = {"install": [item("torch", "2"), item("Jinja2", "3"), item("nvidia_x", "1")]}
    made = pins_of(report)
    assert str(made[0]) == f"jinja2==3 --hash=sha256:{'0' * 64}"
    common, cuda = divide(made, project_names("Jinja2==3\ntorch==2\n"))
    assert common == [Pin("jinja2", "3", "0" * 64)]
    assert [pin.name for pin in cuda] == ["nvidia-x", "torch"]
