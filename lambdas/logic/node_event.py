"""What happens to a cluster's machines: it stretches the patience of the runs that live.

HyperPod replaces a sick machine within 20 to 30 minutes, and a chain of repairs may take more than
an hour. A job that lost its machine is seen to be gone as ever, and its phase gets another; but
neither silence nor a slow start fails a run while a repair may be the reason. An event never ends
a run by itself.

It is of the whole cluster, so one note is made of it, however many pipelines there are. `sweep`,
which is who is patient, puts it on each run that lives when it looks at the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from contracts.errors import ContractBroken
from contracts.ledger import Repair, RunRecord
from contracts.limits import NOTE_MAX
from lambdas.control_plane import ControlPlane

REPAIR_S = 3600
"""How long a repair may take, its retries not counted: each of them is an event of its own."""

_HEALTHY = frozenset({"Healthy", "Schedulable"})
_STEADY = frozenset({"Creating", "InService"})


class NodeEvent(NamedTuple):
    """Something that happened to a cluster.

    Attributes:
        at: when, in aware UTC.
        words: what, for an operator.
        matters: whether jobs may have to wait for it.
    """

    at: datetime
    words: str
    matters: bool


def node_event(body: Mapping[str, Any]) -> NodeEvent | None:
    """Read a HyperPod event; None when the message is none.

    Raises:
        ContractBroken: it is one, but not of the documented form.
    """
    kind = str(body.get("detail-type"))
    reader = _READERS.get(kind)
    if reader is None:
        return None
    try:
        at = datetime.fromisoformat(body["time"])
        words, matters = reader(body["detail"])
        if at.tzinfo is None:
            raise ValueError("time without a zone")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ContractBroken(f"a {kind!r} lacks {error}"[:NOTE_MAX]) from error
    return NodeEvent(at, words[:NOTE_MAX], matters)


def hear_node(event: NodeEvent, plane: ControlPlane) -> bool:
    """Note the event; repeating it changes nothing.

    Returns:
        Whether runs are to be patient for longer than they were.
    """
    if not event.matters:
        return False
    until = event.at.astimezone(UTC) + timedelta(seconds=REPAIR_S)
    return plane.ledger.repairs.note(Repair(until=until, note=event.words))


def with_patience(run: RunRecord, repair: Repair | None, plane: ControlPlane) -> RunRecord:
    """Have a run that lives be patient for as long as a repair may take."""
    if repair is None or plane.clock.now() >= repair.until:
        return run
    if run.patient_until is not None and run.patient_until >= repair.until:
        return run
    plane.ledger.runs.stretch(run.run, until=repair.until, note=repair.note)
    return run.model_copy(update={"patient_until": repair.until, "note": repair.note})


def _health(detail: Mapping[str, Any]) -> tuple[str, bool]:
    summary = detail["HealthSummary"]
    status = summary["HealthStatus"]
    said = [summary.get("HealthStatusReason"), summary.get("RepairAction")]
    why = "; ".join(str(part) for part in said if part and part != "None")
    words = f"machine {detail['InstanceId']} is {status}{': ' if why else ''}{why}"
    return words, status not in _HEALTHY


def _state(detail: Mapping[str, Any]) -> tuple[str, bool]:
    status = detail["ClusterStatus"]
    return f"cluster {detail['ClusterName']} is {status}", status not in _STEADY


def _other(detail: Mapping[str, Any]) -> tuple[str, bool]:
    """Warnings come with every change of size and mean nothing."""
    told = detail["EventDetails"]
    where = told.get("InstanceId") or told.get("InstanceGroupName") or told["ClusterName"]
    return f"{where}: {told['Description']}", told["EventLevel"] == "Error"


_Reader = Callable[[Mapping[str, Any]], tuple[str, bool]]
_READERS: Mapping[str, _Reader] = {
    "SageMaker HyperPod Cluster Node Health Event": _health,
    "SageMaker HyperPod Cluster State Change": _state,
    "SageMaker HyperPod Cluster Event": _other,
}
