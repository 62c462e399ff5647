"""One synthesis a session; it is what takes time here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthesis import Template, definition, synthesise


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outdir = tmp_path_factory.mktemp("assembly")
    synthesise(outdir)
    return outdir


@pytest.fixture(scope="session")
def template(assembly: Path) -> Template:
    from synthesis import read_template

    return read_template(assembly)


@pytest.fixture(scope="session")
def thrown_away(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return synthesise(
        tmp_path_factory.mktemp("thrown-away"),
        name="Relay-Try",
        stage="dev",
        owner="someone",
        removal="destroy",
        architecture="x86_64",
        gather_s="2",
        workspace_root="/tmp/relay",
        progress_interval_s="0.5",
        log_retention_days="7",
        trusted_principals="arn:aws:iam::123456789012:role/a, arn:aws:iam::123456789012:role/b",
    )


@pytest.fixture(scope="session")
def machine(template: Template) -> dict[str, Any]:
    return definition(template)
