"""Synthesis depends on the sources and the settings, and on nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from synthesis import APP, ROOT, flags, synthesise


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_two_syntheses_are_byte_for_byte_alike_whatever_the_umask(
    assembly: Path, tmp_path: Path
) -> None:
    before = os.umask(0o077)
    try:
        synthesise(tmp_path)
    finally:
        os.umask(before)
    assert _files(tmp_path) == _files(assembly)
    (asset,) = tmp_path.glob("asset.*")
    modes = {path.stat().st_mode & 0o777 for path in asset.rglob("*") if path.is_file()}
    assert modes == {0o644}


def test_a_bare_environment_without_credentials_makes_the_same(
    assembly: Path, tmp_path: Path
) -> None:
    home = {"HOME": os.environ["HOME"]} if "HOME" in os.environ else {}
    done = subprocess.run(
        [sys.executable, str(ROOT / "app.py")],
        cwd=tmp_path,
        env={
            "PATH": "/nowhere",
            "CDK_OUTDIR": str(tmp_path / "out"),
            "CDK_CONTEXT_JSON": json.dumps(flags()),
            **home,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert _files(tmp_path / "out") == _files(assembly)


def test_account_and_region_stay_open(assembly: Path) -> None:
    manifest = json.loads((assembly / "manifest.json").read_text())
    environment = manifest["artifacts"]["Relay"]["environment"]
    assert environment == "aws://unknown-account/unknown-region"


def test_whoever_names_a_node_is_heard() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import app, os; app.use_bundled_node(); print(os.environ)"],
        cwd=ROOT,
        env={**os.environ, "JSII_NODE": "/some/node"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "'JSII_NODE': '/some/node'" in done.stdout


def test_the_environment_is_read_by_the_program_and_nowhere_below_it() -> None:
    reads = re.compile(r"^(import|from) os\b|environ\b|getenv", re.MULTILINE)
    assert reads.search(Path(str(APP.__file__)).read_text())
    readers = [path.name for path in (ROOT / "cdk").rglob("*.py") if reads.search(path.read_text())]
    assert readers == []
