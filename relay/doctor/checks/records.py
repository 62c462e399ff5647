"""What keeps records: bucket, ledger and state machine."""

from __future__ import annotations

from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, wrong


def versioned(answer: Answer) -> Finding:
    """Whether the bucket keeps versions: runs name exact ones."""
    about = "bucket versions"

    def by(found: Found) -> Finding:
        status = found.get("Status", "never enabled")
        if status != "Enabled":
            return wrong(about, status, "enable versioning of the bucket, or `cdk deploy`")
        return ok(about, "Enabled")

    return judge(about, answer, missing="`cdk deploy`: the bucket is gone", by=by)


def ledger(answer: Answer) -> Finding:
    """Whether the ledger's table can be written to."""
    about = "ledger"

    def by(found: Found) -> Finding:
        status = found["Table"].get("TableStatus", "")
        if status not in {"ACTIVE", "UPDATING"}:
            return wrong(about, status, "restore the table to a point in time under its name")
        return ok(about, status)

    return judge(about, answer, missing="restore the table from its backup", by=by)


def machine(answer: Answer) -> Finding:
    """Whether runs can be started."""
    about = "state machine"

    def by(found: Found) -> Finding:
        status = found.get("status", "ACTIVE")
        if status != "ACTIVE":
            return wrong(about, status, "it is being deleted: `cdk deploy` makes another")
        return ok(about, f"{status}, {found.get('type', 'STANDARD')}")

    return judge(about, answer, missing="`cdk deploy`: the state machine is gone", by=by)
