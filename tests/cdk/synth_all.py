"""Synthesise and lint every documented combination of settings: `make synth-all`.

Prints a line a combination, and what is wrong behind it; exits with 1 if anything is.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from checking import problems, stacks_of
from combinations import COMBINATIONS, Combination
from synthesis import of_type, read_template


def report(name: str, settings: Combination) -> bool:
    """Check one combination and say how it is; whether it is fine."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="relay-synth-") as folder:
        found = list(problems(settings, Path(folder)))
        made = "" if found else what_was_made(Path(folder) / "first")
    took = time.monotonic() - began
    print(f"{'FAILED' if found else 'ok':6}  {name:36}  {made:48}  {took:5.1f} s", flush=True)
    for problem in found:
        print("        " + problem.replace("\n", "\n        "), flush=True)
    return not found


def what_was_made(assembly: Path) -> str:
    """Stacks with their number of resources and alarms."""
    said = []
    for stack in stacks_of(assembly):
        template = read_template(assembly, stack)
        alarms = len(of_type(template, "CloudWatch::Alarm"))
        watched = f", {alarms} alarms" if alarms else ""
        said.append(f"{stack}: {len(template['Resources'])}{watched}")
    return "; ".join(said)


def main(chosen: list[str]) -> int:
    """Check all combinations, or those whose names hold one of the words given."""
    names = [name for name in COMBINATIONS if not chosen or any(word in name for word in chosen)]
    fine = [report(name, COMBINATIONS[name]) for name in names]
    print(f"{sum(fine)} of {len(fine)} combinations are fine")
    return 0 if fine and all(fine) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
