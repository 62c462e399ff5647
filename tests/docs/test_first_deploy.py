"""The first deploy, as far as its commands can be held to what they call."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from botocore import xform_name
from typer.main import get_command

from cdk.namespace_access import group_of
from cdk.settings import Settings
from contracts.pipeline import Pipeline
from relay.commands.app import app

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "operate" / "first-deploy.md").read_text()
COMMON = {"query", "output"}


def commands(tool: str) -> list[list[str]]:
    """Every command of a tool, its lines put together, split as a shell would."""
    block = "\n".join(line[4:] for line in TEXT.splitlines() if line.startswith("    "))
    lines = re.sub(r"\\\n\s*", "", block).splitlines()
    found = [part for line in lines for part in re.findall(rf"(?:^|\$\(|\| ){tool} [^|]*", line)]
    return [shlex.split(re.sub(r"^(\$\(|\| )|\)$", "", one))[1:] for one in found]


def fenced(language: str) -> str:
    match = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert match is not None
    return match[1]


@cache
def service(name: str) -> Any:
    return boto3.client(
        name, region_name="us-west-2", aws_access_key_id="no", aws_secret_access_key="no"
    ).meta.service_model


_OWN = {("eks", "update-kubeconfig"), ("ecr", "get-login-password")}
"""Commands of the AWS CLI itself."""
AWS = [one for one in commands("aws") if tuple(one[:2]) not in _OWN]


@pytest.mark.parametrize("words", AWS, ids=lambda words: " ".join(words[:2]))
def test_every_aws_command_and_its_options_are_in_the_services_model(words: list[str]) -> None:
    model = service(words[0])
    names = {xform_name(one, "-"): one for one in model.operation_names}
    operation = model.operation_model(names[words[1]])
    members = operation.input_shape.members if operation.input_shape else {}
    known = {xform_name(one, "-") for one in members} | COMMON
    options = {word[2:] for word in words if word.startswith("--")}
    assert options <= known
    required = operation.input_shape.required_members if operation.input_shape else []
    assert {xform_name(one, "-") for one in required} <= options


def test_the_guide_has_all_of_its_commands() -> None:
    assert len(AWS) > 18


@pytest.mark.parametrize("words", commands("relay"), ids=" ".join)
def test_every_relay_command_is_one(words: list[str]) -> None:
    command: Any = get_command(app)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_the_settings_of_the_guide_are_settings() -> None:
    settings = Settings.read(json.loads(fenced("json")))
    assert settings.on_a_cluster
    assert set(settings.hardware_profiles.workers) == {"gpu"}
    given = [word for words in commands("cdk") for word in words if re.match(r"[a-z_]+=", word)]
    assert {word.partition("=")[0] for word in given} <= set(Settings.model_fields)


def test_the_example_fits_the_profiles_of_the_guide() -> None:
    recipe = yaml.safe_load((ROOT / "examples/preferences/pipeline.yaml").read_text())
    hardware = Pipeline.model_validate(recipe).hardware
    workers = Settings.read(json.loads(fenced("json"))).hardware_profiles.workers
    assert any(hardware.cpus <= one.cpu and hardware.gpus <= one.gpu for one in workers.values())


def test_the_claim_of_the_guide_is_the_one_that_the_settings_name() -> None:
    volume, claim, job = yaml.safe_load_all(fenced("yaml"))
    settings = Settings.read(json.loads(fenced("json")))
    assert claim["metadata"] == {"name": settings.fsx_claim, "namespace": settings.namespace}
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
    for one in (volume, claim):
        assert one["spec"]["accessModes"] == ["ReadWriteMany"]
        assert one["spec"]["storageClassName"] == ""
    assert job["spec"]["template"]["spec"]["containers"][0]["command"][1] == "1000:1000"


def test_the_group_that_is_tried_is_the_functions_own() -> None:
    settings = Settings.read(json.loads(fenced("json")))
    tried = [words for words in commands("kubectl") if words[:2] == ["auth", "can-i"]]
    assert len(tried) == 2
    assert all(group_of(settings) in words for words in tried)


def test_ray_is_of_one_version_in_guide_settings_and_lock() -> None:
    settings = Settings.read(json.loads(fenced("json")))
    lock = (ROOT / "training/image/requirements.lock").read_text()
    assert f"\nray=={settings.ray_version} " in lock
    assert f"ray:{settings.ray_version}-py311-gpu" in TEXT
    assert f"{settings.ray_version}-py311-gpu" in (ROOT / "training/Dockerfile").read_text()


def test_steps_are_numbered_without_a_gap() -> None:
    steps = [int(one) for one in re.findall(r"^## (\d+)\. ", TEXT, re.MULTILINE)]
    assert steps == list(range(1, len(steps) + 1))
