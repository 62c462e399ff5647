"""Rights that functions have are used while the line runs, or `docs/operate/rights.md` says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from deployed import Line, until
from test_roles import resource

from contracts import layout
from lambdas.ledger.attempts import key_of

pytestmark = [pytest.mark.line, pytest.mark.emulator]
FUNCTIONS = ("Intake", "Submit", "Report", "Decide", "Sweep")
RIGHTS = Path(__file__).parents[2] / "docs" / "operate" / "rights.md"


def listed_as_seen() -> set[tuple[str, str]]:
    rows = [line.split("|") for line in RIGHTS.read_text().splitlines() if line.startswith("| ")]
    return {
        (row[1].strip(), row[2].strip().strip("`"))
        for row in rows
        if len(row) > 4 and row[3].strip().startswith("seen")
    }


def used(line: Line) -> set[tuple[str, str]]:
    found = map(json.loads, line.places.used_rights.read_text().splitlines())
    return {
        (function, one["action"])
        for one in found
        for function in FUNCTIONS
        if one["role"].startswith(f"Relay-{function}Role")
    }


def test_what_is_listed_as_seen_is_used_on_the_line(line: Line):
    line.register("rights")
    line.put("incoming/rights/nothing", b"")
    line.put("incoming/rights/pairs.jsonl")
    until(lambda: line.runs("rights"), 60)
    with line.stand_in():
        (run,) = line.ended("rights", within_s=120)
    assert run.status == "PUBLISHED"
    refused = line.register("rights-stopped")
    line.put(f"incoming/{refused}/pairs.jsonl")
    (run,) = until(lambda: [one for one in line.runs(refused) if line.attempts(one.run)], 60)
    line.client("stepfunctions").stop_execution(executionArn=line.execution(run.run))
    (run,) = line.ended(refused, within_s=120)
    assert run.status == "CANCELLED"
    (attempt,) = line.attempts(run.run)
    assert line.read(layout.stop(key_of(attempt)))
    sweep = resource(line, "AWS::Lambda::Function", "SweepFunction")
    for _ in range(2):
        line.client("lambda").invoke(FunctionName=sweep)
    until(lambda: listed_as_seen() <= used(line), 30)
