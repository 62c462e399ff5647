"""One emulator with its gaps closed and one as released, and every probe's answer from both."""

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from emulated import Emulated, closed_emulator, plain_emulator
from gap import Observed


@pytest.fixture(scope="module", autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The shell's temporary folder, in which no process of a local stack may leave anything."""
    folder, before = tmp_path_factory.mktemp("elsewhere"), os.environ.get("TMPDIR")
    tempfile.gettempdir()  # This process keeps its own.
    os.environ["TMPDIR"] = str(folder)
    yield folder
    os.environ.pop("TMPDIR")
    if before is not None:
        os.environ["TMPDIR"] = before
    assert list(folder.iterdir()) == []


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulated]:
    with closed_emulator(tmp_path_factory.mktemp("closed")) as running:
        yield running


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulated]:
    with plain_emulator(tmp_path_factory.mktemp("plain")) as running:
        yield running


@pytest.fixture(scope="session")
def observed(emulator: Emulated, released: Emulated) -> Iterator[Observed]:
    """Ask a probe, all of them at once: most of their time is spent waiting for time-outs."""
    from test_gaps import PROBES

    with ThreadPoolExecutor(max_workers=8) as pool:
        asked: dict[tuple[str, object], Future[object]] = {}
        for name, running in (("closed", emulator), ("released", released)):
            for probe in PROBES:
                asked[name, probe.ask] = pool.submit(probe.ask, running)
        yield lambda name, ask: asked[name, ask].result()
