"""After a round: another one, or the gate."""

from __future__ import annotations

from contracts.decision import StepAnswer
from contracts.errors import ContractBroken
from contracts.result import PhaseOutput
from lambdas.control_plane import ControlPlane
from lambdas.logic.gate import judge
from lambdas.logic.hand_over import read_result
from lambdas.logic.read_plan import open_run, read_plan


def metrics_of(output: PhaseOutput, plane: ControlPlane) -> dict[str, float]:
    """The metrics of the result that an output refers to.

    Raises:
        ContractBroken: it is gone or malformed.
    """
    result = read_result(output.result_key, plane)
    if result is None:
        raise ContractBroken(f"{output.result_key} is gone")
    return result.metrics


def next_step(run: str, round_: int, evaluated: PhaseOutput, plane: ControlPlane) -> StepAnswer:
    """Say where the run goes."""
    open_run(run, plane)
    plan = read_plan(run, plane)
    rounds = len(plan.pipeline.rounds)
    if round_ < rounds:
        return StepAnswer(
            next="next_round", round=round_ + 1, reason=f"round {round_} of {rounds} is done"
        )
    judgement = judge(plan.pipeline.gate, metrics_of(evaluated, plane))
    return StepAnswer(
        next="publish" if judgement.passed else "keep", round=round_, reason=judgement.reason
    )
