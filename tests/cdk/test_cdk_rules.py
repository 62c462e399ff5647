"""The rule packs and the linters, run as the tools they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from combinations import CLUSTER
from synthesis import APP, flags

Machine = dict[str, Any]
BIN = Path(sys.executable).parent


def _run(*command: str) -> str:
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_cfn_lint_finds_nothing(assembly: Path) -> None:
    assert _run("cfn-lint", str(assembly / "Relay.template.json")) == ""


def test_statelint_finds_nothing(machine: Machine, tmp_path: Path) -> None:
    # The references' place-holders are no ARNs yet.
    text = json.dumps(machine).replace("<AWS::Partition>", "aws")
    file = tmp_path / "definition.json"
    file.write_text(text)
    assert _run("statelint", str(file)) == ""


def test_statelint_would_find_something(machine: Machine, tmp_path: Path) -> None:
    broken = {**machine, "StartAt": "Nowhere"}
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(broken))
    assert "Nowhere" in _run("statelint", str(file))


@pytest.mark.parametrize("settings", [{}, CLUSTER], ids=["queue", "cluster"])
def test_what_is_acknowledged_is_what_the_rule_packs_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]
) -> None:
    from cdk import acknowledgements

    recorded: list[acknowledgements.Stays] = []
    monkeypatch.setattr(
        acknowledgements,
        "acknowledge",
        lambda *stacks: recorded.extend(acknowledgements.stays(*stacks)),
    )
    app = APP.build({**flags(), **settings}, str(tmp_path))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert {one["pluginName"] for one in report["pluginReports"]} == {"AwsSolutions", "Serverless"}
    found = {
        (violation["ruleName"], construct["constructPath"].removesuffix("/Resource"))
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    }
    assert found == {(stays.finding, stays.where.node.path) for stays in recorded}


@pytest.mark.parametrize("settings", [{}, CLUSTER], ids=["queue", "cluster"])
def test_every_acknowledgement_has_a_reason_of_some_words(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    from aws_cdk import App

    from cdk.acknowledgements import stays
    from cdk.cluster_access import ClusterAccess
    from cdk.settings import Settings
    from cdk.stack import ControlPlane

    app, told = App(outdir=str(tmp_path)), Settings.read(settings)
    stack = ControlPlane(app, told)
    access = ClusterAccess(app, told, stack) if told.on_a_cluster else None
    assert [found for found in stays(stack, access) if len(found.reason.split()) < 5] == []
