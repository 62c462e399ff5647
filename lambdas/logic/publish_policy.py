"""Publishing: a verified export becomes the pipeline's current policy."""

from __future__ import annotations

from contracts import layout
from contracts.artifact import ArtifactRef
from contracts.decision import EndAnswer
from contracts.errors import ContractBroken, PolicyConflict
from contracts.plan import Plan
from contracts.policy import PolicyVersion
from contracts.result import PhaseOutput
from lambdas.control_plane import ControlPlane
from lambdas.ledger.attempts import key_of
from lambdas.logic.hand_over import read_result
from lambdas.logic.next_step import metrics_of
from lambdas.logic.read_plan import open_run, read_plan
from lambdas.logic.verify_export import verify_export


def publish_policy(
    run: str, outputs: dict[str, PhaseOutput], reason: str, plane: ControlPlane
) -> EndAnswer:
    """Verify, write the version, move the pointer, end the run; repeating it changes nothing.

    Raises:
        RunNotOpen: the run has ended, before or meanwhile.
        PolicyConflict: the parent is no longer current.
        ArtifactCorrupt: the export is not what its manifest says.
    """
    record = plane.ledger.runs.get(run)
    if record is not None and record.status == "PUBLISHED":
        return EndAnswer(
            outcome="published", version=record.version, uri=record.uri, reason=record.reason
        )
    open_run(run, plane)
    plan = read_plan(run, plane)
    base = publish_version_zero(plan, outputs["collect"], plane)
    export = outputs["optimize"].artifacts.get("export")
    if export is None:
        raise ContractBroken(f"{outputs['optimize'].result_key} names no export to publish")
    metrics = metrics_of(outputs["evaluate"], plane)
    version = _publish(plan, base + 1, base, export, metrics, plane)
    plane.ledger.runs.end(
        run,
        "PUBLISHED",
        at=plane.clock.now(),
        reason=reason,
        version=version.version,
        uri=export.uri,
    )
    return EndAnswer(outcome="published", version=version.version, uri=export.uri, reason=reason)


def publish_version_zero(plan: Plan, collected: PhaseOutput, plane: ControlPlane) -> int:
    """Make the model that a pipeline's first run started from its version 0.

    Returns:
        The number of the run's parent.
    """
    if plan.parent is not None:
        return plan.parent.version
    initial = collected.artifacts.get("initial") or _initial_of_round_one(plan, plane)
    if initial is None:
        raise ContractBroken(f"{collected.result_key} names no initial policy")
    _publish(plan, 0, None, initial, {}, plane)
    return 0


def _initial_of_round_one(plan: Plan, plane: ControlPlane) -> ArtifactRef | None:
    """Later rounds collect from what the one before left; the first one made version 0."""
    keys = [h.result_key for h in plan.handoffs if (h.round, h.phase) == (1, "collect")]
    attempts = plane.ledger.attempts.of_phase(plan.run, 1, "collect")
    nonces = {layout.result(key_of(attempt)): attempt.nonce for attempt in reversed(attempts)}
    for key in [*keys, *nonces]:
        result = read_result(key, plane)
        if result is not None and result.nonce == nonces.get(key, result.nonce):
            initial = result.artifacts.get("initial")
            if initial is not None:
                return initial
    return None


def _publish(
    plan: Plan,
    number: int,
    parent: int | None,
    ref: ArtifactRef,
    metrics: dict[str, float],
    plane: ControlPlane,
) -> PolicyVersion:
    verify_export(ref, f"{layout.POLICIES}{plan.name}/", plane)
    version = PolicyVersion(
        pipeline=plan.name,
        version=number,
        policy=ref,
        run=plan.run,
        parent=parent,
        pipeline_version=plan.pipeline_version,
        drops=len(plan.drops),
        plan_key=layout.plan(plan.run),
        metrics=metrics,
        created_at=plane.clock.now(),
    )
    if not plane.ledger.policies.publish(version, in_turn=True):
        there = plane.ledger.policies.get(plan.name, number)
        if there is None or there.run != plan.run:
            open_run(plan.run, plane)
            raise PolicyConflict(
                f"version {parent} of {plan.name} is no longer current, so version {number} "
                f"of run {plan.run} was not published; `relay retry {plan.run}` starts from "
                "the current one"
            )
        version = there
    plane.objects.put(layout.current_policy(plan.name), version.to_bytes())
    return version
