"""Exit codes, and how quick and quiet the command is."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from botocore import exceptions as aws

from contracts import errors
from relay.commands.endings import end_of
from relay.console.errors import Conflict, NotFound, TryAgain
from relay.local.errors import LocalStackError

HEAVY = ("boto3", "botocore", "pydantic", "torch", "ray", "psutil", "yaml", "lambdas", "contracts")


def client_error(code: str) -> aws.ClientError:
    return aws.ClientError({"Error": {"Code": code, "Message": "m"}}, "Operation")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFound("x"), 3),
        (Conflict("x"), 4),
        (TryAgain("x"), 5),
        (errors.PipelineUnknown("x"), 3),
        (errors.PipelineInvalid("x"), 1),
        (errors.RunNotOpen("x"), 4),
        (errors.PolicyConflict("x"), 4),
        (errors.AttemptFenced("x"), 4),
        (errors.ServiceUnavailable("x"), 5),
        (errors.JobCrashed("x"), 5),
        (errors.ArtifactCorrupt("x"), 1),
        (LocalStackError("x"), 1),
        (client_error("ThrottlingException"), 5),
        (client_error("AccessDenied"), 1),
        (aws.NoCredentialsError(), 2),
        (aws.ProfileNotFound(profile="p"), 2),
        (aws.EndpointConnectionError(endpoint_url="u"), 5),
        (PermissionError(13, "denied", "f"), 1),
    ],
)
def test_an_expected_error_has_its_code(error: Exception, code: int) -> None:
    end = end_of(error)
    assert end is not None
    assert end.code == code
    assert end.line


@pytest.mark.parametrize("error", [KeyError("x"), AssertionError("x"), TypeError("x")])
def test_an_error_that_nobody_expected_keeps_its_traceback(error: Exception) -> None:
    assert end_of(error) is None


def test_help_is_instant_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['relay', '--help']\n"
        "from relay.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    took = []
    for _ in range(3):
        begun = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        took.append(time.monotonic() - begun)
    loaded = {name.partition(".")[0] for name in ended.stderr.splitlines()}
    assert loaded.isdisjoint(HEAVY)
    assert "demo" in ended.stdout
    assert min(took) < 2, "half a second on a quiet machine"


@pytest.mark.parametrize(
    "command",
    [
        ["demo"],
        ["local", "up"],
        ["pipelines", "apply"],
        ["validate"],
        ["drop"],
        ["drops"],
        ["runs"],
        ["show"],
        ["watch"],
        ["retry"],
        ["cancel"],
        ["policies"],
    ],
)
def test_every_command_that_gives_data_documents_its_json(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from relay.__main__ import main

    monkeypatch.setattr(sys, "argv", ["relay", *command, "--help"])
    with pytest.raises(SystemExit):
        main()
    out = capsys.readouterr().out
    assert "JSON" in out
    assert "--output" in out
