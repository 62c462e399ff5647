"""Tables on narrow terminals."""

from __future__ import annotations

import pytest

from relay.commands.voice import draw, table

RUN = "r261201-120000-aaaaaa"
PLACE = "s3://relay-bucket/policies/guess-number/r261201-120000-aaaaaa/"


@pytest.mark.parametrize("columns", ["20", "60", "200"])
def test_what_is_whole_is_never_cut_however_narrow_the_terminal(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    table([("run", ""), ("status", ""), ("place", "")], [(RUN, "PUBLISHED", PLACE)])
    line = capsys.readouterr().out.splitlines()[-2]
    assert RUN in line
    assert PLACE in line


def test_a_sentence_is_the_terminals_to_fold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    draw(f"{PLACE}\nversion 1")
    assert capsys.readouterr().out == f"{PLACE}\nversion 1\n"
