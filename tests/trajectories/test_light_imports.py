from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
before = set(sys.modules)
import trajectories.validating
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(name for name in loaded if name not in sys.stdlib_module_names))
"""
ALLOWED = {
    "annotated_types",
    "contracts",
    "orjson",
    "pydantic",
    "pydantic_core",
    "trajectories",
    "typing_extensions",
    "typing_inspection",
}


def test_reading_loads_nothing_heavy_before_a_file_needs_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, cwd=ROOT
    )
    loaded = {name for name in done.stdout.split() if not name.startswith("_")}
    assert {"contracts", "trajectories"} <= loaded <= ALLOWED
