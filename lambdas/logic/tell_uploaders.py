"""What `collect` found wrong, told per object: a few reports at once, many turn by turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from contracts import layout
from contracts.counting import agreeing, counted
from contracts.errors import ContractBroken
from contracts.ledger import AttemptRecord
from contracts.names import AttemptKey
from contracts.rejection import Rejection
from contracts.result import ObjectReport, PhaseResult
from lambdas.control_plane import ControlPlane
from lambdas.logic.hand_over import read_result
from lambdas.logic.side_by_side import side_by_side

AT_ONCE_MAX = 50
"""Reports that are written while a result is heard: ten results a call fit its timeout."""
CHUNK = 200
TURN_S = 15.0
"""How long a turn of sweep goes on with the reports of one result."""


def tell_uploaders(attempt: AttemptRecord, result: PhaseResult, plane: ControlPlane) -> None:
    """Write the reports on a result, after Step Functions was answered.

    What is too much for one call is noted first, so that sweep goes on with it. A result that
    came after its attempt was stopped changes nothing in the ledger.
    """
    bad = with_problems(result)
    if attempt.status == "STOPPED":
        _write(bad[:AT_ONCE_MAX], result, plane, notes=False)
        return
    if len(bad) > AT_ONCE_MAX:
        if attempt.reports_told >= len(bad):
            return
        plane.ledger.telling.begin(attempt)
        bad = bad[attempt.reports_told : AT_ONCE_MAX]
    _write(bad, result, plane)


def go_on_telling(key: AttemptKey, plane: ControlPlane) -> None:
    """Go on with the reports of one result, for a while."""
    attempts = plane.ledger.attempts.of_phase(key.run, key.round, key.phase)
    attempt = next((it for it in attempts if it.attempt == key.attempt), None)
    try:
        result = read_result(layout.result(key), plane)
    except ContractBroken:
        result = None
    if attempt is None or result is None or result.nonce != attempt.nonce:
        plane.ledger.telling.end(key)
        return
    bad = with_problems(result)
    told = attempt.reports_told
    until = plane.clock.now() + timedelta(seconds=TURN_S)
    while told < len(bad) and plane.clock.now() < until:
        chunk = bad[told : told + CHUNK]
        _write(chunk, result, plane)
        told += len(chunk)
        plane.ledger.telling.advance(attempt, told)
    if told >= len(bad):
        plane.ledger.telling.end(key)


def with_problems(result: PhaseResult) -> list[ObjectReport]:
    """The objects that their uploaders are told of."""
    return [report for report in result.objects if report.problem_count]


def _write(
    reports: Sequence[ObjectReport],
    result: PhaseResult,
    plane: ControlPlane,
    *,
    notes: bool = True,
) -> None:
    first = {report.drop: report for report in reversed(with_problems(result))}
    of_drop: dict[str, list[ObjectReport]] = defaultdict(list)
    for report in result.objects:
        of_drop[report.drop].append(report)

    def write(report: ObjectReport) -> None:
        pipeline, _, rest = report.key.removeprefix(layout.INCOMING).partition("/")
        place = layout.rejection(pipeline, rest, report.version_id)
        plane.objects.put(place, rejection_of(report, result, plane).to_bytes())
        if notes and first[report.drop] is report:
            plane.ledger.drops.note(report.drop, result.run, reason_for(of_drop[report.drop]))

    side_by_side(write, reports, plane.at_once)


def rejection_of(report: ObjectReport, result: PhaseResult, plane: ControlPlane) -> Rejection:
    """The report on one object."""
    reason = words_on(report.rejected, report.records)
    if not report.records and report.problems:
        reason = report.problems[0].problem
    return Rejection(
        bucket=plane.objects.bucket,
        key=report.key,
        version_id=report.version_id,
        refused_by="collect",
        run=result.run,
        reason=reason,
        remedy="mend what is listed below and upload the file again: it is a new drop",
        records=report.records,
        usable=report.usable,
        problems=report.problems,
        problem_count=report.problem_count,
        at=result.ended_at,
    )


def words_on(rejected: int, records: int) -> str:
    """How much of an object or of a drop was not usable."""
    of = counted(records, "record")
    return f"{rejected:,} of {of} {agreeing(rejected, 'was', 'were')} not usable"


def reason_for(objects: Sequence[ObjectReport]) -> str:
    """One line on a drop of which something was not usable: how much, and the first problem."""
    records = sum(report.records for report in objects)
    rejected = sum(report.rejected for report in objects)
    bad = [report for report in objects if report.problem_count]
    what = words_on(rejected, records)
    if len(objects) > 1:
        what += f", in {len(bad)} of {counted(len(objects), 'file')}"
    shown = next((problem for report in bad for problem in report.problems), None)
    if shown is None:
        return what
    where = f"line {shown.line}, " if shown.line else ""
    return f"{what}; first: {where}{shown.field}: {shown.problem}"[:500]
