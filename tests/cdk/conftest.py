"""One synthesis a session; it is what takes time here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from combinations import CLUSTER, THROWN_AWAY
from synthesis import Template, definition, read_template, synthesise


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outdir = tmp_path_factory.mktemp("assembly")
    synthesise(outdir)
    return outdir


@pytest.fixture(scope="session")
def template(assembly: Path) -> Template:
    return read_template(assembly)


@pytest.fixture(scope="session")
def thrown_away(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return synthesise(
        tmp_path_factory.mktemp("thrown-away"),
        **THROWN_AWAY,
        trusted_principals="arn:aws:iam::123456789012:role/a, arn:aws:iam::123456789012:role/b",
    )


@pytest.fixture(scope="session")
def cluster_assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outdir = tmp_path_factory.mktemp("cluster")
    synthesise(outdir, **CLUSTER)
    return outdir


@pytest.fixture(scope="session")
def on_cluster(cluster_assembly: Path) -> Template:
    """The control plane's template, where jobs run on a cluster."""
    return read_template(cluster_assembly)


@pytest.fixture(scope="session")
def access(cluster_assembly: Path) -> Template:
    """The template of the access to that cluster."""
    return read_template(cluster_assembly, "RelayCluster")


@pytest.fixture(scope="session")
def machine(template: Template) -> dict[str, Any]:
    return definition(template)
