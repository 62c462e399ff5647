"""A base that stands in for Ray's image: Debian with a Python, Ray in it, and the user `ray`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from training.image.base_fit import locked
from training.image.buildah import Buildah
from training.image.errors import CannotCheck

NAME = "localhost/relay-stand-in-for-ray"
SUITE = "bookworm"
"""Its Python is 3.11."""
_PACKAGES = "python3,python3-venv,ca-certificates,libgomp1"
_PATH = "/opt/python/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def make(buildah: Buildah, root: Path, wheels: Path) -> str:
    """Make it with the lock's Ray, unless it is there.

    Args:
        buildah: where to.
        root: folder for Debian's files; kept, as making it takes longest.
        wheels: folder in which Ray's wheel is.

    Returns:
        Its name by digest.

    Raises:
        CannotCheck: Debian's packages can't be had, or the container refuses.
    """
    ray = locked("ray", (Path(__file__).parent / "requirements.lock").read_text())
    name = f"{NAME}:{ray}"
    if not (root / "etc" / "os-release").exists():
        _bootstrap(root)
    if not buildah.ask("images", "--quiet", "--filter", f"reference={name}"):
        _commit(buildah, root, wheels, ray)
    return f"{NAME}@{buildah.ask('images', '--format', '{{.Digest}}', name)}"


def _bootstrap(root: Path) -> None:
    command = ["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", SUITE, str(root)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode:
        lines = said.stdout.strip().splitlines() or ["it said nothing"]
        raise CannotCheck(f"debootstrap failed: {lines[-1]}")


def _commit(buildah: Buildah, root: Path, wheels: Path, ray: str) -> None:
    script = (
        "useradd --uid 1000 --gid 100 --create-home ray && python3 -m venv /opt/python && "
        f"pip install --quiet --no-index --no-deps --find-links /wheels ray=={ray}"
    )
    made = buildah.ask("from", "scratch")
    buildah.ask("add", "--quiet", made, str(root), "/")
    buildah.ask("config", "--env", f"PATH={_PATH}", "--env", "LANG=C.UTF-8", made)
    volume = f"--volume={wheels}:/wheels:ro"
    buildah.ask("run", "--isolation", "chroot", volume, made, "--", "sh", "-c", script)
    buildah.ask("config", "--user", "ray", "--workingdir", "/home/ray", made)
    buildah.ask("commit", "--quiet", "--rm", made, f"{NAME}:{ray}")
