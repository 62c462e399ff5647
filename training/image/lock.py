"""`python -m training.image.lock`: pins what the image installs, each file by its sha256.

pip resolves `requirements.in` under the versions of the project's `requirements.txt`, for
CPython 3.11 on Linux x86_64, and downloads metadata only.

| file | |
|---|---|
| `requirements.lock` | what every image installs |
| `torch-cuda.lock` | torch as PyPI has it, with its CUDA libraries |
| `torch-cpu.lock` | torch as PyTorch's own index for CPUs has it, from a wheel that is at hand |
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
PYTHON = "3.11"
# glibc 2.5 to 2.39; pip takes only tags that it is told of.
PLATFORMS = (
    *(f"manylinux_2_{minor}_x86_64" for minor in range(5, 40)),
    "manylinux1_x86_64",
    "manylinux2010_x86_64",
    "manylinux2014_x86_64",
    "linux_x86_64",
)


class Pin(NamedTuple):
    """One file that may be installed."""

    name: str
    version: str
    sha256: str

    def __str__(self) -> str:
        """As a line of a requirements file."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


def pins_of(report: Mapping[str, Any]) -> list[Pin]:
    """The pins in pip's installation report, by name."""
    found = [
        Pin(
            item["metadata"]["name"].lower().replace("_", "-").replace(".", "-"),
            item["metadata"]["version"],
            item["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for item in report["install"]
    ]
    return sorted(found)


def project_names(requirements: str) -> frozenset[str]:
    """Names that the project itself pins, normalised."""
    lines = (line.partition("==")[0] for line in requirements.splitlines() if "==" in line)
    return frozenset(name.lower().replace("_", "-").replace(".", "-") for name in lines)


def divide(pins: Iterable[Pin], own: frozenset[str]) -> tuple[list[Pin], list[Pin]]:
    """What every image needs, and torch with the libraries that only its CUDA build brings."""
    pins = list(pins)
    cuda = [pin for pin in pins if pin.name == "torch" or pin.name not in own]
    return [pin for pin in pins if pin not in cuda], cuda


def resolve() -> Mapping[str, Any]:
    """Let pip resolve, without installing anything; its report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += [f"--report={report}", f"--target={folder}/none", "--ignore-installed"]
        command += ["--only-binary=:all:", f"--python-version={PYTHON}"]
        command += [f"--platform={one}" for one in PLATFORMS]
        command += [f"--constraint={PROJECT / 'requirements.txt'}"]
        command += [f"--requirement={HERE / 'requirements.in'}"]
        subprocess.run(command, check=True)
        found: Mapping[str, Any] = json.loads(report.read_text())
    return found


def cpu_torch(wheel: Path) -> Pin:
    """The pin of a wheel of torch for CPUs."""
    name, version = wheel.name.split("-")[:2]
    return Pin(name, version, hashlib.sha256(wheel.read_bytes()).hexdigest())


def write(name: str, about: str, pins: Iterable[Pin]) -> None:
    """Write a lock beside this file."""
    made = f"Made by `python -m training.image.lock`; CPython {PYTHON}, Linux x86_64."
    head = f"# {about}\n# {made}\n"
    (HERE / name).write_text(head + "".join(f"{pin}\n" for pin in pins))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the locks."""
    parser = argparse.ArgumentParser(prog="python -m training.image.lock", description=__doc__)
    parser.add_argument("--torch-cpu", type=Path, help="wheel of torch for CPUs, to pin as well")
    options = parser.parse_args(arguments)
    own = project_names((PROJECT / "requirements.txt").read_text())
    common, cuda = divide(pins_of(resolve()), own)
    write("requirements.lock", "What every image installs.", common)
    write("torch-cuda.lock", "torch as PyPI has it, with its CUDA libraries.", cuda)
    if options.torch_cpu:
        about = "torch as PyTorch's own index for CPUs has it."
        write("torch-cpu.lock", about, [cpu_torch(options.torch_cpu)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
