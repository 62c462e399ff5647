"""What the tests of runner `kuberay` share: settings and specs, and a server that is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest
from fakes.clock import START, FakeClock

from contracts.errors import ClusterRefused, ServiceUnavailable
from contracts.hardware import Hardware
from contracts.job import JobSpec
from lambdas.settings import Settings

RUN = "r260304-050607-s00001"
PROFILES = {
    "head": {"cpu": 2, "memory": "8Gi"},
    "cpu": {"cpu": 15, "memory": "60Gi", "labels": {"relay-pool": "cpu"}},
    "gpu": {
        "cpu": 90,
        "memory": "900Gi",
        "gpu": 8,
        "labels": {"node.kubernetes.io/instance-type": "ml.p5.48xlarge"},
        "tolerations": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
    },
}
ENVIRON = {
    "BUCKET": "relay-tests",
    "LEDGER_TABLE": "ledger",
    "STATE_MACHINE_ARN": "arn:aws:states:eu-west-1:123456789012:stateMachine:runs",
    "WORKSPACE_ROOT": "/fsx/relay",
    "PROGRESS_INTERVAL_S": "15",
    "RUNNER": "kuberay",
    "AWS_REGION": "eu-west-1",
    "CLUSTER_NAME": "team",
    "CLUSTER_NAMESPACE": "hyperpod-ns-team",
    "JOB_IMAGE": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/relay:1",
    "JOB_SERVICE_ACCOUNT": "relay-job",
    "JOB_QUEUE_NAME": "hyperpod-ns-team-localqueue",
    "JOB_PRIORITY_CLASS": "training-priority",
    "FSX_CLAIM": "fsx",
    "RAY_CLUSTER": "",
    "RAY_VERSION": "2.60.0",
    "HARDWARE_PROFILES": json.dumps(PROFILES),
}


def settings(**changes: str) -> Settings:
    return Settings.read({**ENVIRON, **changes})


def job_spec(**changes: Any) -> JobSpec:
    return JobSpec.model_validate(
        {
            "run": RUN,
            "pipeline": "tone",
            "round": 1,
            "phase": "optimize",
            "attempt": 2,
            "nonce": "n" * 32,
            "bucket": "relay-tests",
            "workspace": f"/fsx/relay/{RUN}",
            "inputs": {},
            "last_round": True,
            "hardware": Hardware(cpus=4),
            "deadline": START + timedelta(hours=1),
            "progress_interval_s": 15,
            **changes,
        }
    )


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


class Told(NamedTuple):
    """What the stub answers: a status, headers, a body, after a while; or it hangs up."""

    status: int = 200
    body: object = None
    headers: tuple[tuple[str, str], ...] = ()
    after_s: float = 0.0
    hangs_up: bool = False


class Asked(NamedTuple):
    """What the stub was asked."""

    method: str
    target: str
    token: str
    accept: str
    body: Any


@dataclass
class StubApi:
    """A server that answers what it is told, one answer a request, the last one for ever."""

    answers: list[Told] = field(default_factory=lambda: [Told()])
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    def tell(self, *answers: Told) -> None:
        self.answers = list(answers)

    def next(self) -> Told:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def _handler(stub: StubApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            sent = self.rfile.read(length)
            headers = self.headers
            stub.asked.append(
                Asked(
                    self.command,
                    self.path,
                    headers["Authorization"] or "",
                    headers["Accept"] or "",
                    json.loads(sent) if sent else None,
                )
            )
            told = stub.next()
            time.sleep(told.after_s)
            if told.hangs_up:
                self.close_connection = True
                return
            text = told.body if isinstance(told.body, str) else json.dumps(told.body or {})
            self.send_response(told.status)
            for name, value in told.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # it waited no longer
                self.wfile.write(text.encode())

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, *_: object) -> None:
            """Nothing."""

    return Handler


@pytest.fixture
def stub() -> Iterator[StubApi]:
    made = StubApi()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(made))
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    serving = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    serving.start()
    yield made
    server.shutdown()
    server.server_close()


@dataclass
class Stopwatch:
    """Time and sleep of `Patience`: what was slept has passed."""

    seconds: float = 1000.0
    slept: list[float] = field(default_factory=list)
    chance: Callable[[float, float], float] = lambda _low, high: high

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


@pytest.fixture
def stopwatch() -> Stopwatch:
    return Stopwatch()


@dataclass
class MemoryCluster:
    """Fulfils `Cluster` in memory; a deleted RayJob lingers while `lingers`."""

    rayjobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    pods_of: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    events_of: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    workloads_of: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    is_down: bool = False
    refuses: bool = False
    lingers: bool = False
    on_create: Callable[[], None] = lambda: None

    def _answer(self) -> None:
        if self.is_down:
            raise ServiceUnavailable("nobody answers")
        if self.refuses:
            raise ClusterRefused("rayjobs is forbidden; give this function's role an access entry")

    def create(self, rayjob: dict[str, Any]) -> bool:
        self._answer()
        name = rayjob["metadata"]["name"]
        if name in self.rayjobs:
            return False
        self.rayjobs[name] = json.loads(json.dumps(rayjob))
        self.rayjobs[name]["metadata"]["uid"] = f"uid-{name}"
        self.made.append(name)
        self.on_create()
        return True

    def get(self, name: str) -> dict[str, Any] | None:
        self._answer()
        return self.rayjobs.get(name)

    def delete(self, name: str) -> None:
        self._answer()
        self.deleted.append(name)
        if self.lingers and name in self.rayjobs:
            self.rayjobs[name]["metadata"]["deletionTimestamp"] = "2026-03-04T05:06:07Z"
        else:
            self.rayjobs.pop(name, None)

    def labels_of(self, bucket: str) -> Iterator[dict[str, str]]:
        self._answer()
        for _, rayjob in sorted(self.rayjobs.items()):
            if rayjob["metadata"]["labels"]["relay/bucket"] == bucket:
                yield rayjob["metadata"]["labels"]

    def pods(self, job: str) -> list[dict[str, Any]]:
        self._answer()
        return self.pods_of.get(job, [])

    def events(self, name: str) -> list[dict[str, Any]]:
        return self.events_of.get(name, [])

    def workloads(self, uid: str) -> list[dict[str, Any]]:
        return self.workloads_of.get(uid, [])

    def log(self, pod: str, container: str) -> str:
        return self.logs.get(pod, "")

    def show(self, name: str, **status: Any) -> None:
        """Have KubeRay say this of a RayJob."""
        self.rayjobs[name]["status"] = status


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()
