"""A deployed control plane, as the operator's tool sees it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import NoRegionError

from contracts import layout, ledger
from contracts.ledger import PipelineRecord, RunRecord
from contracts.limits import STATUS_OBJECT_BYTES_MAX
from lambdas import control_plane as logic
from lambdas.ledger.table import Table
from lambdas.settings import Settings
from lambdas.wiring import build
from relay.console.aws_session import aws_session
from relay.console.errors import NotFound
from relay.console.locating import Location, Wish, adopt, local_root, local_up, locate
from relay.console.outputs import Outputs

if TYPE_CHECKING:
    from botocore.client import BaseClient

_CONFIG = Config(
    retries={"mode": "standard", "max_attempts": 3}, connect_timeout=5, read_timeout=30
)


@dataclass(frozen=True)
class ControlPlane:
    """Outputs of the stack, and clients made when they are first used."""

    outputs: Outputs
    session: boto3.Session
    words: str

    @cached_property
    def s3(self) -> BaseClient:
        """S3."""
        return self.session.client("s3", config=_CONFIG)

    @cached_property
    def sfn(self) -> BaseClient:
        """Step Functions."""
        return self.session.client("stepfunctions", config=_CONFIG)

    @cached_property
    def table(self) -> Table:
        """The ledger's table."""
        return Table(self.session.client("dynamodb", config=_CONFIG), self.outputs.ledger_table)

    @cached_property
    def logic(self) -> logic.ControlPlane:
        """What the functions' own logic is called with."""
        told = self.outputs.model_dump()
        names = [name for name in Settings.model_fields if name in told]
        return build(Settings(**{n: told[n] for n in names}, runner="queue"), self.session)

    def execution_arn(self, run: str) -> str:
        """The run's execution."""
        machine = self.outputs.state_machine_arn
        return machine.replace(":stateMachine:", ":execution:", 1) + f":{run}"

    def run(self, run: str) -> RunRecord:
        """A run of the ledger.

        Raises:
            NotFound: there is none.
        """
        record = self.logic.ledger.runs.get(run)
        if record is None:
            raise NotFound(f"there is no run {run}; `relay runs` lists those there are")
        return record

    def runs_of(self, pipeline: str, limit: int) -> Iterator[RunRecord]:
        """A pipeline's newest runs, the newest first."""
        listed = self.table.query(f"PIPELINE#{pipeline}", "RUN#", limit=limit, newest_first=True)
        for item in listed:
            record = self.logic.ledger.runs.get(item["run"])
            if record is not None:
                yield record

    def pipelines_seen(self) -> dict[str, PipelineRecord]:
        """What the ledger knows of every pipeline that was ever dropped into, by name."""
        items = self.table.query(ledger.PIPELINES, "")
        records = (PipelineRecord.model_validate(item) for item in items)
        return {record.name: record for record in records}

    def check_pipeline(self, name: str) -> None:
        """See that a pipeline is known: registered, or at least dropped into.

        Raises:
            NotFound: it is neither.
        """
        if name not in self.pipelines_seen():
            self.pipeline_bytes(name)

    def keys(self, prefix: str) -> Iterator[dict[str, Any]]:
        """Every object below a prefix, as S3 lists it."""
        pages = self.s3.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self.outputs.bucket, Prefix=prefix):
            yield from page.get("Contents", [])

    def get(self, key: str, limit: int = STATUS_OBJECT_BYTES_MAX) -> bytes | None:
        """An object's content; None when there is none."""
        return self.logic.objects.get(key, limit=limit)

    def pipeline_bytes(self, name: str) -> bytes:
        """A registered pipeline.

        Raises:
            NotFound: there is none of that name.
        """
        found = self.get(layout.pipeline(name))
        if found is None:
            raise NotFound(
                f"there is no pipeline {name}; `relay pipelines list` shows those there are, "
                "`relay pipelines apply FILE` registers one"
            )
        return found


def find(wish: Wish) -> ControlPlane:
    """Find the control plane by itself.

    Raises:
        NotFound: there is no such stack.
        TryAgain: it is still being created, or the local one has crashed.
    """
    elsewhere = wish.aws or wish.profile or os.environ.get("AWS_ENDPOINT_URL")
    try:
        return connect(locate(wish, os.environ, None if elsewhere else local_up(local_root())))
    except NoRegionError as error:
        raise NotFound(
            "no local stack is up here, and no AWS region is set: `relay local up` starts one, "
            "or set AWS_REGION or --profile"
        ) from error


def connect(location: Location) -> ControlPlane:
    """Speak to the control plane at a place; see `find`."""
    if location.local is not None:
        adopt(location.local)
    session = aws_session(location.profile)
    cloudformation = session.client("cloudformation", config=_CONFIG)
    return ControlPlane(Outputs.of_stack(cloudformation, location.stack), session, location.words)
