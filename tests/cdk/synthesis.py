"""Synthesise the app as the CDK CLI would, and read what came out."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
Resource = dict[str, Any]
Template = dict[str, Any]


def load_app() -> ModuleType:
    """`app.py`, which is no installed package, and this checkout's packages for it."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    spec = importlib.util.spec_from_file_location("relay_cdk_app", ROOT / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


APP = load_app()


def flags() -> dict[str, Any]:
    """The context that the CLI passes on: what `cdk.json` holds, and its own."""
    context: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return {
        **context,
        "aws:cdk:enable-path-metadata": True,
        "aws:cdk:enable-asset-metadata": True,
    }


def synthesise(outdir: Path, **settings: object) -> Template:
    """Build and synthesise with settings; the stack's template."""
    APP.build({**flags(), **settings}, str(outdir)).synth()
    return read_template(outdir, str(settings.get("name", "Relay")))


def read_template(outdir: Path, name: str = "Relay") -> Template:
    template: Template = json.loads((outdir / f"{name}.template.json").read_text())
    return template


def of_type(template: Template, kind: str) -> dict[str, Resource]:
    """Resources of a type, such as `SQS::Queue`, by logical id."""
    return {
        key: resource
        for key, resource in template["Resources"].items()
        if resource["Type"] == f"AWS::{kind}"
    }


def the(template: Template, kind: str, path: str = "") -> Resource:
    """Properties of the one resource of a type whose construct path holds `path`."""
    found = [
        resource
        for resource in of_type(template, kind).values()
        if path in resource["Metadata"]["aws:cdk:path"]
    ]
    assert len(found) == 1, f"{len(found)} of {kind} at {path}"
    properties: Resource = found[0]["Properties"]
    return properties


def path_of(template: Template, logical_id: str) -> str:
    """Where in the app a resource was made, without stack and leaf."""
    path: str = template["Resources"][logical_id]["Metadata"]["aws:cdk:path"]
    return path.split("/", 1)[1].removesuffix("/Resource")


def flat(template: Template, value: object) -> str:
    """A value as one string; a reference reads `<path of the resource>`."""
    if isinstance(value, str):
        return value
    assert isinstance(value, Mapping), value
    ((function, argument),) = value.items()
    if function == "Fn::GetStackOutput":
        return f"<{argument['StackName']}:{argument['OutputName']}>"
    if function == "Fn::Join":
        separator, parts = argument
        return str(separator).join(flat(template, part) for part in parts)
    name = argument if isinstance(argument, str) else argument[0]
    return f"<{path_of(template, name) if name in template['Resources'] else name}>"


def definition(template: Template) -> dict[str, Any]:
    """The state machine's definition."""
    text = flat(template, the(template, "StepFunctions::StateMachine")["DefinitionString"])
    machine: dict[str, Any] = json.loads(text)
    return machine
