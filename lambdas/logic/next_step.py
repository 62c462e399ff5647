"""After a round: another one, or the gate."""

from __future__ import annotations

from contracts.decision import StepAnswer
from contracts.errors import ContractBroken
from contracts.limits import STATUS_OBJECT_BYTES_MAX
from contracts.result import PhaseOutput, PhaseResult
from lambdas.control_plane import ControlPlane
from lambdas.logic.gate import judge
from lambdas.logic.plan_run import open_run, read_plan


def read_result(output: PhaseOutput, plane: ControlPlane) -> PhaseResult:
    """The result that an output refers to.

    Raises:
        ContractBroken: it is gone or malformed.
    """
    stored = plane.objects.get(output.result_key, limit=STATUS_OBJECT_BYTES_MAX)
    if stored is None:
        raise ContractBroken(f"{output.result_key} is gone")
    return PhaseResult.from_bytes(stored, where=output.result_key)


def next_step(run: str, round_: int, evaluated: PhaseOutput, plane: ControlPlane) -> StepAnswer:
    """Say where the run goes."""
    open_run(run, plane)
    plan = read_plan(run, plane)
    rounds = len(plan.pipeline.rounds)
    if round_ < rounds:
        return StepAnswer(
            next="next_round", round=round_ + 1, reason=f"round {round_} of {rounds} is done"
        )
    judgement = judge(plan.pipeline.gate, read_result(evaluated, plane).metrics)
    return StepAnswer(
        next="publish" if judgement.passed else "keep", round=round_, reason=judgement.reason
    )
