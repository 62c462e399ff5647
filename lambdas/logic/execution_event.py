"""EventBridge's word that an execution has ended; best effort, so `sweep` looks as well."""

from __future__ import annotations

from typing import Any

from contracts.errors import ContractBroken

DETAIL_TYPE = "Step Functions Execution Status Change"


def ended_run(body: dict[str, Any]) -> str | None:
    """The run whose execution ended; None when the message is no such event.

    Raises:
        ContractBroken: it is one, but names no execution.
    """
    if body.get("detail-type") != DETAIL_TYPE:
        return None
    detail = body.get("detail")
    name = detail.get("name") if isinstance(detail, dict) else None
    if not isinstance(name, str) or not name:
        raise ContractBroken(f"an execution's status event names no execution: {detail!r}"[:200])
    return name
