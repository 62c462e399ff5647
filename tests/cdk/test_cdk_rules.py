"""The rule packs and the linters, run as the tools they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from checking import LINTERS, run_tool
from combinations import CLUSTER
from synthesis import APP, flags

Machine = dict[str, Any]


@pytest.mark.parametrize("name", ["assembly", "cluster_assembly"])
@pytest.mark.parametrize("linter", sorted(LINTERS))
def test_a_linter_finds_nothing(linter: str, name: str, request: pytest.FixtureRequest) -> None:
    assert LINTERS[linter](request.getfixturevalue(name)) == ""


def test_statelint_would_find_something(machine: Machine, tmp_path: Path) -> None:
    broken = {**machine, "StartAt": "Nowhere"}
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(broken))
    assert "Nowhere" in run_tool("statelint", str(file))


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
