"""Where things are does not hang on who asks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from relay.local.places import LocalPlaces

SOCKET_PATH_MAX = 107
SESSION = "session_2026-12-01_18-48-36_314243_4194304"
ASK = (
    "import sys; from pathlib import Path; from relay.local.places import LocalPlaces;"
    "print(LocalPlaces(Path(sys.argv[1])).ray)"
)


def test_rays_folder_is_the_same_for_every_process_and_short(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / ("long" * 20), tmp_path / "elsewhere"
    elsewhere.mkdir()
    told = subprocess.run(
        [sys.executable, "-c", ASK, str(root)],
        env={**os.environ, "TMPDIR": str(elsewhere)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == str(LocalPlaces(root).ray)
    socket = (
        LocalPlaces(root).ray / "session_2026-12-01_18-48-36_314243_4194304/sockets/plasma_store"
    )
    assert len(os.fsencode(socket)) <= SOCKET_PATH_MAX
