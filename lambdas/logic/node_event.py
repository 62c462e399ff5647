"""What happens to a cluster's machines: noted on the runs that live, whose patience it stretches.

HyperPod replaces a sick machine within 20 to 30 minutes, and a chain of repairs may take more than
an hour. A job that lost its machine is seen to be gone as ever, and its phase gets another; but
neither silence nor a slow start fails a run while a repair may be the reason. An event never ends
a run by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from contracts.errors import ContractBroken
from contracts.ledger import RUN_ENDED
from contracts.limits import NOTE_MAX
from lambdas.control_plane import ControlPlane

REPAIR_S = 3600
"""How long a repair may take, its retries not counted: each of them is an event of its own."""
PIPELINES_MAX = 500

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


def hear_node(event: NodeEvent, plane: ControlPlane) -> int:
    """Note the event on every run that lives; repeating it changes nothing.

    Returns:
        How many runs it was noted on.
    """
    if not event.matters:
        return 0
    until = event.at + timedelta(seconds=REPAIR_S)
    noted = 0
    for pipeline in plane.ledger.pipelines.listed(PIPELINES_MAX):
        lease = plane.ledger.runs.lease(pipeline.name)
        run = None if lease is None else plane.ledger.runs.get(lease.run)
        if run is not None and run.status not in RUN_ENDED:
            noted += plane.ledger.runs.stretch(run.run, until=until, note=event.words)
    return noted


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
