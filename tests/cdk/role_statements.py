"""A role's rights in a form that people compare: a file a role, in `golden/roles/`.

`python tests/cdk/role_statements.py` writes the files anew; what changed is for a person to see.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from combinations import CLUSTER
from synthesis import Template, flat, of_type, read_template, synthesise

GOLDEN = Path(__file__).parent / "golden" / "roles"


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def role_of(resource: dict[str, Any]) -> str:
    """Whose role it is: the part of the construct path behind the stack."""
    path: str = resource["Metadata"]["aws:cdk:path"]
    return path.split("/")[1]


def rights(template: Template) -> dict[str, list[dict[str, Any]]]:
    """By role: its statements, whatever policy they are in, sorted by what they are for."""
    found: dict[str, list[dict[str, Any]]] = {}
    for resource in of_type(template, "IAM::Role").values():
        policies = resource["Properties"].get("Policies", [])
        found[role_of(resource)] = [
            _read(template, one)
            for policy in policies
            for one in policy["PolicyDocument"]["Statement"]
        ]
    for resource in of_type(template, "IAM::Policy").values():
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]:
            found[role_of(resource)].append(_read(template, statement))
    for statements in found.values():
        statements.sort(key=lambda one: one["for"])
    return found


def _read(template: Template, statement: dict[str, Any]) -> dict[str, Any]:
    conditions = {
        f"{operator} {key}": sorted(flat(template, one) for one in listed(value))
        for operator, tests in statement.get("Condition", {}).items()
        for key, value in tests.items()
    }
    return {
        "for": statement["Sid"],
        "effect": statement["Effect"],
        "actions": sorted(listed(statement["Action"])),
        "on": sorted(flat(template, one) for one in listed(statement["Resource"])),
        **({"if": conditions} if conditions else {}),
    }


def text_of(statements: list[dict[str, Any]]) -> str:
    return json.dumps(statements, indent=2, ensure_ascii=False) + "\n"


def deployments(queue: Template, cluster: Template, access: Template) -> Iterator[tuple[str, str]]:
    """Every file's name and text."""
    for folder, templates in (("queue", [queue]), ("cluster", [cluster, access])):
        for template in templates:
            for role, statements in sorted(rights(template).items()):
                yield f"{folder}/{role}.json", text_of(statements)


def main() -> None:
    with TemporaryDirectory() as folder:
        queue = synthesise(Path(folder) / "queue")
        cluster = synthesise(Path(folder) / "cluster", **CLUSTER)
        access = read_template(Path(folder) / "cluster", "RelayCluster")
    for name, text in deployments(queue, cluster, access):
        file = GOLDEN / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        print(file.relative_to(Path.cwd()))


if __name__ == "__main__":
    main()
