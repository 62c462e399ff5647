"""A function loads nothing that Lambda's runtime, the Powertools layer or our bundle lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FUNCTIONS = ("intake", "submit", "report", "decide", "sweep")
OURS = {"contracts", "lambdas"}
RUNTIME = {"boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six", "urllib3"}
LAYER = {
    "aws_lambda_powertools",
    "pydantic",
    "pydantic_core",
    "pydantic_settings",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
    "jmespath",
}
OPTIONAL = {"certifi"}
"""botocore takes its own certificates where this is not installed."""
LIMIT_S = 10
"""Far above what it takes (well under one second on a quiet machine); a stuck import fails."""

PROBE = """
import json, sys, time
before = set(sys.modules)
started = time.perf_counter()
import lambdas.{name}.handler
seconds = time.perf_counter() - started
loaded = sorted({{module.partition(".")[0] for module in set(sys.modules) - before}})
print(json.dumps({{"seconds": seconds, "loaded": loaded}}))
"""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_handler_loads_only_what_is_there(name: str) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "AWS_DEFAULT_REGION": "us-east-1"}
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(name=name)],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
        cwd=ROOT,
    )
    found = json.loads(done.stdout)
    foreign = {
        module
        for module in found["loaded"]
        if module not in OURS | RUNTIME | LAYER | OPTIONAL
        and module not in sys.stdlib_module_names
        and not module.startswith("_")
    }
    print(f"{name}: {found['seconds']:.2f} s")
    assert foreign == set()
    assert "yaml" not in found["loaded"]
    assert found["seconds"] < LIMIT_S


def test_logic_knows_no_sdk_no_clock_and_no_environment() -> None:
    banned = ("boto", "aws_lambda_powertools", "os.environ", "datetime.now", "time.time", "random")
    for path in (ROOT / "lambdas" / "logic").glob("*.py"):
        text = path.read_text()
        assert not [word for word in banned if word in text], path


def test_the_import_rules_hold() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout


CONNECT = """
import json, sys, time
before = set(sys.modules)
started = time.perf_counter()
from lambdas.settings import Settings
from lambdas.wiring import build
plane = build(Settings.read({environ!r}))
seconds = time.perf_counter() - started
loaded = sorted(set(sys.modules) - before)
print(json.dumps({{"seconds": seconds, "loaded": loaded, "runner": type(plane.runner).__name__}}))
"""
ENVIRON = {
    "BUCKET": "b",
    "LEDGER_TABLE": "t",
    "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:m",
    "WORKSPACE_ROOT": "/fsx/relay",
    "PROGRESS_INTERVAL_S": "15",
    "AWS_REGION": "us-east-1",
    "JOB_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/jobs",
    "CLUSTER_NAME": "c",
    "JOB_IMAGE": "i:1",
    "FSX_CLAIM": "fsx",
    "RAY_VERSION": "2.60.0",
}


@pytest.mark.parametrize(
    ("runner", "made"), [("queue", "QueueRunner"), ("kuberay", "KubeRayRunner")]
)
def test_a_runner_loads_only_its_own_modules_and_what_is_there(runner: str, made: str) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "AWS_DEFAULT_REGION": "us-east-1"}
    done = subprocess.run(
        [sys.executable, "-c", CONNECT.format(environ={**ENVIRON, "RUNNER": runner})],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
        cwd=ROOT,
    )
    found = json.loads(done.stdout)
    print(f"{runner}: {found['seconds']:.2f} s")
    tops = {module.partition(".")[0] for module in found["loaded"]}
    known = OURS | RUNTIME | LAYER | OPTIONAL | set(sys.stdlib_module_names)
    assert {top for top in tops - known if not top.startswith("_")} == set()
    assert found["runner"] == made
    on_cluster = [it for it in found["loaded"] if it.startswith("lambdas.adapters.kuberay")]
    assert bool(on_cluster) == (runner == "kuberay")
    assert ("lambdas.adapters.queue_runner" in found["loaded"]) == (runner == "queue")


BUNDLE_BYTES_MAX = 5 * 1024 * 1024


def test_the_bundle_of_all_functions_is_small() -> None:
    files = [path for package in OURS for path in (ROOT / package).rglob("*.py")]
    size = sum(path.stat().st_size for path in files)
    print(f"{len(files)} files, {size} bytes")
    assert 0 < size < BUNDLE_BYTES_MAX
