"""Documented combinations of settings; `make synth-all` checks each of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from checking import files_of, problems
from combinations import CLUSTER, COMBINATIONS
from synth_all import main
from synthesis import ROOT, synthesise

from cdk.cluster_settings import ClusterSettings
from cdk.settings import Settings

PAGE = ROOT / "docs" / "operate" / "settings.md"


def test_a_combination_is_synthesised_alike_twice_and_linted(tmp_path: Path) -> None:
    assert list(problems(COMBINATIONS["cluster, thrown away"], tmp_path)) == []


def test_two_syntheses_for_a_cluster_are_byte_for_byte_alike(
    cluster_assembly: Path, tmp_path: Path
) -> None:
    synthesise(tmp_path, **CLUSTER)
    assert files_of(tmp_path) == files_of(cluster_assembly)


def test_what_is_wrong_is_said_and_nothing_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cdk import acknowledgements

    monkeypatch.setattr(acknowledgements, "acknowledge", lambda *stacks: None)
    monkeypatch.setattr("synth_all.COMBINATIONS", {"queue": {}})
    assert main([]) == 1
    told = capsys.readouterr().out
    assert told.startswith("FAILED  queue")
    assert "ValidationFailed" in told
    assert "0 of 1 combinations are fine" in told


def test_a_linters_finding_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(problems.__globals__["LINTERS"], "cfn-lint", lambda _: "E3012 wrong")
    assert list(problems({}, tmp_path)) == ["cfn-lint: E3012 wrong"]


def test_nothing_chosen_by_a_word_that_no_name_has_is_no_success() -> None:
    assert main(["no such combination"]) == 1


@pytest.mark.parametrize("name", sorted(COMBINATIONS))
def test_every_combination_is_made_of_good_settings(name: str) -> None:
    Settings.read(COMBINATIONS[name])


def test_every_setting_of_a_cluster_is_in_some_combination() -> None:
    used = {key for settings in COMBINATIONS.values() for key in settings}
    assert set(ClusterSettings.model_fields) - used == set()


def test_every_setting_and_every_combination_is_documented() -> None:
    text = PAGE.read_text()
    assert [key for key in Settings.model_fields if f"| `{key}` |" not in text] == []
    assert [name for name in COMBINATIONS if f"| {name} |" not in text] == []
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == len(Settings.model_fields)


def test_what_the_page_says_of_a_setting_is_what_the_setting_says() -> None:
    rows = {
        row[0].strip("| `"): row
        for line in PAGE.read_text().splitlines()
        if line.startswith("| `") and (row := line.split(" | "))
    }
    for key, field in Settings.model_fields.items():
        assert rows[key][-1].removesuffix(" |") == field.description
