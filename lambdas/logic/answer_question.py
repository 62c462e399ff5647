"""From a question of the state machine to its answer."""

from __future__ import annotations

from contracts.decision import EndAnswer, PlanAnswer, StepAnswer
from contracts.errors import ContractBroken
from contracts.question import Question, RunState
from contracts.result import PhaseOutput
from lambdas.control_plane import ControlPlane
from lambdas.logic.keep_policy import NO_DATA, NOTHING_WAITING, Keeping, keep_policy
from lambdas.logic.next_step import next_step
from lambdas.logic.plan_run import plan_run
from lambdas.logic.publish_policy import publish_policy
from lambdas.time_left import TimeLeft


def answer_question(
    asked: Question, plane: ControlPlane, left: TimeLeft
) -> PlanAnswer | StepAnswer | EndAnswer:
    """Answer; asking again gives the same answer.

    Raises:
        ContractBroken: the state lacks what the question needs.
    """
    state = asked.state
    if asked.question == "plan":
        return plan_run(state.run, plane, left)
    if asked.question == "next":
        return next_step(state.run, state.round, _output(state, "evaluate"), plane)
    if asked.question == "publish":
        outputs = {name: _output(state, name) for name in ("collect", "optimize", "evaluate")}
        reason = state.decision.reason if state.decision else ""
        return publish_policy(state.run, outputs, reason, plane)
    return keep_policy(state.run, keeping_of(state), state.collect, plane)


def keeping_of(state: RunState) -> Keeping:
    """Why a run that publishes nothing does so."""
    if state.plan is not None and state.plan.outcome == "nothing_waiting":
        return NOTHING_WAITING
    if state.collect is not None and state.collect.outcome == "no_data":
        return NO_DATA
    if state.decision is None:
        raise ContractBroken(f"run {state.run} keeps its policy, but nothing decided so")
    return Keeping("kept", "KEPT", state.decision.reason)


def _output(state: RunState, phase: str) -> PhaseOutput:
    output: PhaseOutput | None = getattr(state, phase)
    if output is None:
        raise ContractBroken(f"the state of run {state.run} has no output of {phase}")
    return output
