"""A small run by an image: collect, then optimize, which is terminated and gone on with."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from contracts import layout
from contracts.job import JobSpec
from training.image.buildah import Buildah
from training.image.errors import CannotCheck, ImageWrong
from training.image.orders import BUCKET, STEPS, Orders

WORKSPACE = "/fsx/relay"
PAIRS = Path(__file__).parents[2] / "examples" / "preferences" / "pairs.jsonl"
# Ray's own, started by the job: one that this machine runs must not be joined.
_JOB = {"RAY_ADDRESS": "local", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1"}
_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
_TERMINATED = (
    'python -m training --job "$0" & while [ ! -e "$1" ] && kill -0 $!; do sleep 0.1; done; '
    "kill -TERM $!; wait $!"
)
_JOB_S, _STOP_S = 180.0, 40.0
_BUSY_AT = 5
"""Steps after which a job is at work for certain."""
_TERMINATED_CODE = 128 + signal.SIGTERM


class Trial:
    """Jobs of one container, on one bucket and one workspace."""

    def __init__(self, buildah: Buildah, container: str, folder: Path, endpoint: str) -> None:
        self._buildah = buildah
        self._container = container
        self._folder = folder
        self._environment = _JOB | _CREDENTIALS | {"AWS_ENDPOINT_URL": endpoint}
        self._orders = Orders(_client(endpoint), WORKSPACE)

    def run(self, say: Callable[[str], None]) -> None:
        """Do it all.

        Raises:
            ImageWrong: a job of it did not do as it should.
        """
        self._expect(0, "import what it must", "python", "-m", "pip", "check")
        self._expect(0, "run as another than root", "sh", "-c", 'test "$(id -u)" = 1000')
        self._orders.plan(PAIRS.read_bytes())
        collect = self._orders.job("collect")
        self._expect(0, "collect", "python", "-m", "training", "--job", _uri(collect))
        say("collected, in Ray, as uid 1000")
        made = self._orders.result(collect)
        assert made is not None, "the job ended with 0"
        inputs = {name: made.artifacts[name] for name in ("episodes", "start")}
        stopped = self._orders.job("optimize", inputs)
        step = self._terminate(stopped)
        say(f"terminated at step {step} of {STEPS}: exit 143, no result")
        again = self._orders.job("optimize", inputs, attempt=2)
        self._expect(0, "go on", "python", "-m", "training", "--job", _uri(again))
        self._check_resumed(again, step)
        say("the next attempt went on from there to the end")

    def _terminate(self, spec: JobSpec) -> int:
        mark = self._folder / "terminate"
        process = self._start("bash", "-c", _TERMINATED, _uri(spec), f"{WORKSPACE}/{mark.name}")
        give_up_at = time.monotonic() + _JOB_S
        while self._orders.step(spec) < _BUSY_AT and process.poll() is None:
            if time.monotonic() > give_up_at:
                process.kill()
                raise ImageWrong(f"the job took no {_BUSY_AT} steps within {_JOB_S:g} s")
            time.sleep(0.1)
        mark.touch()
        code = _wait(process, _STOP_S)
        if code != _TERMINATED_CODE or self._orders.result(spec) is not None:
            raise ImageWrong(
                f"a terminated job must end by {_TERMINATED_CODE} without a result, not by {code}"
            )
        return self._orders.step(spec)

    def _check_resumed(self, spec: JobSpec, step: int) -> None:
        made = self._orders.result(spec)
        if made is None or not made.resumed_from.startswith("step "):
            raise ImageWrong("the second attempt did not go on from a checkpoint")
        if int(made.resumed_from.split()[1]) < step:
            raise ImageWrong(f"it went on from {made.resumed_from}, after step {step} was reached")

    def _expect(self, code: int, what: str, *command: str) -> None:
        found = _wait(self._start(*command), _JOB_S)
        if found != code:
            raise ImageWrong(f"the image does not {what}: exit {found}, not {code}")

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        return self._buildah.run(
            self._container,
            command,
            volumes={self._folder: WORKSPACE},
            environment=self._environment,
        )


@contextmanager
def workspace(folder: Path) -> Iterator[Path]:
    """An empty folder that the image's user may write to, as the file system's must be."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.chown(folder, 1000, 1000)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def s3(log: Path) -> Iterator[str]:
    """An S3 on this machine; its address.

    Raises:
        CannotCheck: it does not start.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ministack = Path(sys.executable).with_name("ministack")
    if not ministack.exists():
        raise CannotCheck("ministack is missing, which is the S3 of the trial: `make setup`")
    with log.open("ab") as file:
        server = subprocess.Popen(
            [ministack],
            env={"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "SFTP_ENABLED": "0"},
            stdout=file,
            stderr=file,
        )
    try:
        _wait_for_port(port, server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _wait_for_port(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise CannotCheck("the S3 of the trial does not start")


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise ImageWrong(f"it did not end within {seconds:g} s") from None


def _client(endpoint: str) -> Any:  # noqa: ANN401 - boto3 is untyped
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 - an emulator's
        config=Config(s3={"addressing_style": "path"}),
    )


def _uri(spec: JobSpec) -> str:
    return layout.s3_uri(BUCKET, layout.job(spec.key))
