"""Plan: the moment at which a run's drops, recipe and parent are decided."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from contracts import layout
from contracts.decision import PlanAnswer
from contracts.errors import ArtifactCorrupt, PipelineUnknown, RunNotOpen, ServiceUnavailable
from contracts.ledger import RunRecord
from contracts.limits import DROPS_PER_RUN_MAX, STATUS_OBJECT_BYTES_MAX
from contracts.model import digest
from contracts.pipeline import Patience, Pipeline
from contracts.plan import Handoff, Parent, Plan, PlannedDrop
from lambdas.control_plane import ControlPlane
from lambdas.logic.mark_drops import mark_drop
from lambdas.logic.plan_drops import DropsPlanner, folder_of
from lambdas.logic.settle_set import settle_set

PLAN_BYTES_MAX = 64 * STATUS_OBJECT_BYTES_MAX
MARKING_S = 10.0
"""How long the end of a run goes on marking: half of what `report` has for all of a batch."""


def open_run(run: str, plane: ControlPlane) -> RunRecord:
    """The run, if it is alive and holds its pipeline's lease.

    Raises:
        RunNotOpen: it is not; so a redriven execution ends at its first step.
    """
    record = plane.ledger.runs.get(run)
    if record is None:
        raise RunNotOpen(f"the ledger knows no run {run}")
    lease = plane.ledger.runs.lease(record.pipeline)
    if record.ended_at is not None or lease is None or lease.run != run:
        raise RunNotOpen(
            f"run {run} has ended ({record.status}) and cannot be redriven; "
            f"use `relay retry {run}`: it takes the same drops and goes on from the last handoff"
        )
    return record


def read_plan(run: str, plane: ControlPlane) -> Plan:
    """The run's plan.

    Raises:
        RunNotOpen: it was never planned.
    """
    key = layout.plan(run)
    stored = plane.objects.get(key, limit=PLAN_BYTES_MAX)
    if stored is None:
        raise RunNotOpen(f"run {run} has no plan at {key}")
    return Plan.from_bytes(stored, where=key)


def plan_run(run: str, plane: ControlPlane) -> PlanAnswer:
    """Decide the run once, then mark its drops; repeating it goes on marking."""
    record = open_run(run, plane)
    key = layout.plan(run)
    if plane.objects.head(key) is None:
        fresh = _make(record, plane)
        if fresh is None:
            patience = Patience()
            return PlanAnswer(
                outcome="nothing_waiting",
                run=run,
                pipeline=record.pipeline,
                drops=0,
                rounds=0,
                heartbeat_s=patience.heartbeat_s,
                timeout_s=patience.timeout_s,
            )
        plane.objects.put_if_absent(key, fresh.to_bytes())
    plan = read_plan(run, plane)
    if plan.retry_of is None:
        _mark_all(plan, record, plane)
    plane.ledger.runs.set_drops(run, len(plan.drops))
    if plan.retry_of is None:
        for folder in sorted({folder_of(drop.key) for drop in plan.drops} - {""}):
            settle_set(record.pipeline, folder, plane)
    return PlanAnswer(
        outcome="planned",
        run=run,
        pipeline=record.pipeline,
        drops=len(plan.drops),
        rounds=len(plan.pipeline.rounds),
        heartbeat_s=plan.pipeline.patience.heartbeat_s,
        timeout_s=plan.pipeline.patience.timeout_s,
    )


def _mark_all(plan: Plan, record: RunRecord, plane: ControlPlane) -> None:
    for drop in plan.drops:
        if not mark_drop(drop, record.pipeline, record.run, plane):
            raise RunNotOpen(f"run {record.run} lost its lease before {drop.key} was marked as its")


def finish_marking(record: RunRecord, plane: ControlPlane) -> None:
    """Mark what a run had planned when it was cut short: its drops stay with it.

    What is marked is not gone through again, so that every call comes further.

    Raises:
        ServiceUnavailable: there is more than one call has time for; the next goes on.
    """
    if record.drops:
        return
    stored = plane.objects.get(layout.plan(record.run), limit=PLAN_BYTES_MAX)
    if stored is None:
        return
    plan = Plan.from_bytes(stored, where=layout.plan(record.run))
    if plan.retry_of is not None:
        return
    until = plane.clock.now() + timedelta(seconds=MARKING_S)
    waiting = plane.ledger.drops.waiting(record.pipeline, limit=2 * DROPS_PER_RUN_MAX)
    ids = {drop.id for drop in waiting}
    for drop in [drop for drop in plan.drops if drop.objects or drop.id in ids]:
        if plane.clock.now() > until:
            raise ServiceUnavailable(f"the drops of run {record.run} are not all marked yet")
        mark_drop(drop, record.pipeline, record.run, plane)


def _make(record: RunRecord, plane: ControlPlane) -> Plan | None:
    if record.retry_of is not None and plane.objects.head(layout.plan(record.retry_of)):
        again = _make_retry(record, record.retry_of, plane)
        if again.drops:
            return again
    drops = plane.ledger.drops.waiting(record.pipeline, limit=DROPS_PER_RUN_MAX)
    if not drops:
        return None
    stored = plane.objects.get(layout.pipeline(record.pipeline), limit=STATUS_OBJECT_BYTES_MAX)
    if stored is None:
        raise PipelineUnknown(
            f"{layout.pipeline(record.pipeline)} is gone; "
            "register the pipeline with `relay pipelines apply FILE`"
        )
    pipeline = Pipeline.from_bytes(stored, where=layout.pipeline(record.pipeline))
    taken = DropsPlanner(record, pipeline.data, plane).take(drops)
    if not taken:
        return None
    return Plan(
        run=record.run,
        pipeline_version=digest(stored),
        pipeline=pipeline,
        drops=taken,
        parent=_parent(record.pipeline, plane),
        created_at=plane.clock.now(),
    )


def _make_retry(record: RunRecord, before: str, plane: ControlPlane) -> Plan:
    """The same drops under the recipe as it is registered now.

    Handoffs hold while recipe and parent are those they came from, unless one was found corrupt.
    """
    old = read_plan(before, plane)
    old = old.model_copy(update={"drops": _own_drops(old, plane)})
    parent = _parent(record.pipeline, plane)
    changes: dict[str, Any] = {
        "run": record.run,
        "retry_of": before,
        "created_at": plane.clock.now(),
    }
    ended = plane.ledger.runs.get(before)
    corrupt = ended is not None and ended.reason.startswith(ArtifactCorrupt.__name__)
    key = layout.pipeline(record.pipeline)
    stored = plane.objects.get(key, limit=STATUS_OBJECT_BYTES_MAX)
    mended = stored is not None and digest(stored) != old.pipeline_version
    if stored is not None and mended:
        changes["pipeline"] = Pipeline.from_bytes(stored, where=key)
        changes["pipeline_version"] = digest(stored)
    if parent != old.parent or corrupt or mended:
        return old.model_copy(update={**changes, "parent": parent, "handoffs": ()})
    done = {
        (attempt.round, attempt.phase): attempt.output.result_key
        for attempt in plane.ledger.attempts.of_run(before)
        if attempt.status == "SUCCEEDED" and attempt.output is not None
    }
    handoffs = {(item.round, item.phase): item.result_key for item in old.handoffs} | done
    taken_over = tuple(
        Handoff(round=round_, phase=phase, result_key=key)
        for (round_, phase), key in sorted(handoffs.items())
    )
    return old.model_copy(update={**changes, "handoffs": taken_over})


def _own_drops(plan: Plan, plane: ControlPlane) -> tuple[PlannedDrop, ...]:
    """The drops that are the run's, or its ancestor's, if its marking was cut short."""
    before = plane.ledger.runs.get(plan.run)
    if plan.retry_of is not None or before is None or before.drops:
        return plan.drops
    found = ((drop, plane.ledger.drops.get(drop.id)) for drop in plan.drops)
    return tuple(drop for drop, known in found if known is not None and known.run == plan.run)


def _parent(pipeline: str, plane: ControlPlane) -> Parent | None:
    current = plane.ledger.pipelines.get(pipeline).current_version
    version = None if current is None else plane.ledger.policies.get(pipeline, current)
    return None if version is None else Parent(version=version.version, policy=version.policy)
