"""The code that all functions share: `lambdas` and `contracts`, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from aws_cdk import aws_lambda as lambda_

PACKAGES = ("contracts", "lambdas")


@contextmanager
def code_bundle(root: Path) -> Iterator[lambda_.Code]:
    """One asset, whose hash depends on nothing but the packages' source files.

    The CDK takes its own copy when the first function is made, so the staging folder is needed
    no longer than this context. What pydantic, boto3 and Powertools bring is in the layer.

    Args:
        root: folder that holds the packages.
    """
    with TemporaryDirectory(prefix="relay-code-") as folder:
        _stage(root, Path(folder))
        yield lambda_.Code.from_asset(folder)


def _stage(root: Path, target: Path) -> None:
    for package in PACKAGES:
        for source in sorted((root / package).rglob("*.py")):
            copy = target / source.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copyfile(source, copy)
    for path in target.rglob("*"):
        # Lambda reads the code as another user, whatever the umask here is.
        path.chmod(0o755 if path.is_dir() else 0o644)
