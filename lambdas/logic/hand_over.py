"""A phase that is done already is answered with its result instead of a job."""

from __future__ import annotations

from collections.abc import Sequence

from contracts import layout
from contracts.errors import ContractBroken
from contracts.ledger import AttemptRecord
from contracts.limits import RESULT_BYTES_MAX, STATE_OUTPUT_BYTES_MAX
from contracts.result import PhaseOutput, PhaseResult
from lambdas.control_plane import ControlPlane
from lambdas.ledger.attempts import key_of

_UNREPORTED = frozenset({"SUBMITTED", "RUNNING", "SUCCEEDED"})


def read_result(result_key: str, plane: ControlPlane) -> PhaseResult | None:
    """A job's result; None when there is none yet.

    Raises:
        ContractBroken: it is too large or malformed.
    """
    stored = plane.objects.get(result_key, limit=RESULT_BYTES_MAX)
    return None if stored is None else PhaseResult.from_bytes(stored, where=result_key)


def output_of(result: PhaseResult, result_key: str) -> PhaseOutput:
    """What Step Functions is told of a result.

    Raises:
        ContractBroken: the result is a failure, or names more than a state may carry.
    """
    if result.outcome == "failed":
        raise ContractBroken(f"{result_key} is a failure, not an output")
    output = PhaseOutput(outcome=result.outcome, artifacts=result.artifacts, result_key=result_key)
    if len(output.to_bytes()) > STATE_OUTPUT_BYTES_MAX:
        raise ContractBroken(f"{result_key} names more artifacts than a state may carry")
    return output


def hand_over(token: str, result_key: str, plane: ControlPlane) -> str:
    """Answer a task with a result of before; returns the result's key.

    Raises:
        ContractBroken: the result is gone, malformed or a failure.
    """
    result = read_result(result_key, plane)
    if result is None:
        raise ContractBroken(f"{result_key} is gone, so its phase cannot be taken over")
    plane.executions.succeed(token, output_of(result, result_key).to_bytes())
    return result_key


def unheard_success(
    attempts: Sequence[AttemptRecord], token: str, plane: ControlPlane
) -> str | None:
    """The result of the attempt before, if its job succeeded and Step Functions missed it.

    Its work is not done twice only because the word of it came late. The ledger is left to
    whoever hears the result.

    Returns:
        The result's key; None when there is no such result.
    """
    with_jobs = [attempt for attempt in attempts if attempt.status != "RESERVED"]
    if not with_jobs or with_jobs[-1].token == token or with_jobs[-1].status not in _UNREPORTED:
        return None
    last = with_jobs[-1]
    place = layout.result(key_of(last))
    try:
        result = read_result(place, plane)
    except ContractBroken:
        return None
    if result is None or result.key != key_of(last) or result.nonce != last.nonce:
        return None
    return None if result.outcome == "failed" else place
