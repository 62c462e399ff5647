"""Plan: the moment at which a run's drops, recipe and parent are decided."""

from __future__ import annotations

from typing import Any

from contracts import layout
from contracts.decision import PlanAnswer
from contracts.errors import ArtifactCorrupt, PipelineUnknown
from contracts.ledger import RunRecord
from contracts.limits import DROPS_PER_RUN_MAX, STATUS_OBJECT_BYTES_MAX
from contracts.model import digest
from contracts.pipeline import Patience, Pipeline
from contracts.plan import Handoff, Parent, Plan, PlannedDrop
from lambdas.control_plane import ControlPlane
from lambdas.logic.deadlines import state_timeout_s
from lambdas.logic.mark_plan import mark_plan
from lambdas.logic.plan_drops import DropsPlanner, folder_of
from lambdas.logic.read_plan import open_run, read_plan
from lambdas.logic.settle_set import settle_set
from lambdas.time_left import TimeLeft

CHOOSING = 1 / 3
"""Of a call's time, for choosing drops; the rest is for marking what was chosen."""


def plan_run(run: str, plane: ControlPlane, left: TimeLeft) -> PlanAnswer:
    """Decide the run once, then mark its drops; repeating it goes on marking.

    What there is no time for is not lost: drops wait for the next run, and versions that were
    overwritten for sweep, which looks into the folders that they wait in.

    Raises:
        RunNotOpen: the run has ended, or lost its lease.
        PipelineUnknown: its recipe is gone.
        ServiceUnavailable: marking takes more than one call.
    """
    record = open_run(run, plane)
    key = layout.plan(run)
    if plane.objects.head(key) is None:
        fresh = _make(record, plane, left.part(CHOOSING))
        if fresh is None:
            return _answer(record, None, plane)
        plane.objects.put_if_absent(key, fresh.to_bytes())
    plan = read_plan(run, plane)
    if plan.retry_of is None:
        mark_plan(plan, record, plane, left)
    plane.ledger.runs.set_drops(run, len(plan.drops))
    if plan.retry_of is None:
        _settle(plan, plane, left)
    return _answer(record, plan, plane)


def _answer(record: RunRecord, plan: Plan | None, plane: ControlPlane) -> PlanAnswer:
    patience = plan.pipeline.patience if plan else Patience()
    return PlanAnswer(
        outcome="planned" if plan else "nothing_waiting",
        run=record.run,
        pipeline=record.pipeline,
        drops=len(plan.drops) if plan else 0,
        rounds=len(plan.pipeline.rounds) if plan else 0,
        heartbeat_s=patience.heartbeat_s,
        timeout_s=state_timeout_s(patience, queues=plane.runner.queues),
    )


def _settle(plan: Plan, plane: ControlPlane, left: TimeLeft) -> None:
    for folder in sorted({folder_of(drop.key) for drop in plan.drops} - {""}):
        if left.is_over:
            return
        settle_set(plan.name, folder, plane)


def _make(record: RunRecord, plane: ControlPlane, left: TimeLeft) -> Plan | None:
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
    taken = DropsPlanner(record, pipeline.data, plane, left).take(drops)
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
