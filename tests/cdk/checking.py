"""One combination of settings, synthesised twice and linted by all the tools there are."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from synthesis import definition, of_type, read_template, synthesise

BIN = Path(sys.executable).parent


def run_tool(*command: str) -> str:
    """What a tool of this environment has to say; empty when it finds nothing."""
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file of an assembly."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def stacks_of(assembly: Path) -> list[str]:
    """Names of the stacks in an assembly."""
    return sorted(path.name.partition(".")[0] for path in assembly.glob("*.template.json"))


def cfn_lint(assembly: Path) -> str:
    """What cfn-lint says of every template."""
    return run_tool("cfn-lint", *(str(file) for file in sorted(assembly.glob("*.template.json"))))


def statelint(assembly: Path) -> str:
    """What statelint says of every state machine."""
    said = ""
    for name in stacks_of(assembly):
        template = read_template(assembly, name)
        if of_type(template, "StepFunctions::StateMachine"):
            # The references' place-holders are no ARNs yet.
            text = json.dumps(definition(template)).replace("<AWS::Partition>", "aws")
            with TemporaryDirectory() as folder:
                file = Path(folder) / "definition.json"
                file.write_text(text)
                said += run_tool("statelint", str(file))
    return said


def rule_packs(assembly: Path) -> str:
    """What cdk-nag's packs say; a finding that is not acknowledged has ended the synthesis."""
    report = json.loads((assembly / "validation-report.json").read_text())
    return "".join(str(one["violations"]) for one in report["pluginReports"] if one["violations"])


LINTERS: Mapping[str, Callable[[Path], str]] = {
    "cdk-nag": rule_packs,
    "cfn-lint": cfn_lint,
    "statelint": statelint,
}


def problems(settings: Mapping[str, object], folder: Path) -> Iterator[str]:
    """What is wrong with a combination, one text a tool that finds something.

    Args:
        settings: the combination.
        folder: an empty one, where both assemblies are left as `first` and `second`.
    """
    first, second = folder / "first", folder / "second"
    for outdir in (first, second):
        try:
            synthesise(outdir, **settings)
        except RuntimeError as error:
            yield f"synthesis: {str(error).splitlines()[0]}"
            return
    if files_of(first) != files_of(second):
        yield "synthesis: two of them differ"
    for name, lint in LINTERS.items():
        if said := lint(first).strip():
            yield f"{name}: {said}"
