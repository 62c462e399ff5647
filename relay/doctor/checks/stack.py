"""The control plane's stack: deployed, and telling where everything is."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic.alias_generators import to_pascal

from relay.console.outputs import Outputs
from relay.doctor.answers import Answer, Found, Missing, Unanswered, judge
from relay.doctor.finding import Finding, ok, unknown, wrong

_WELL = {"CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE"}
_OLD_REMAINS = {"UPDATE_ROLLBACK_COMPLETE"}
_NEEDED = sorted(
    to_pascal(name) for name, field in Outputs.model_fields.items() if field.is_required()
)


def outputs(answer: Found) -> Mapping[str, str]:
    """A described stack's outputs by name; empty when there is no stack."""
    stacks = answer.get("Stacks") or [{}]
    return {one["OutputKey"]: one["OutputValue"] for one in stacks[0].get("Outputs", [])}


def lacking(told: Mapping[str, str]) -> list[str]:
    """Which outputs a control plane would have and this stack has not."""
    return [name for name in _NEEDED if name not in told]


def deployed(stack: str, answer: Answer) -> Finding:
    """Whether the stack is there, complete, and a control plane's."""
    name = f"stack {stack}"

    def by(found: Found) -> Finding:
        status = found["Stacks"][0]["StackStatus"]
        if status.endswith("_IN_PROGRESS"):
            return unknown(name, status, "wait until CloudFormation is done, and look again")
        if status in _OLD_REMAINS:
            remedy = "see the stack's events for what failed, mend it, `cdk deploy` again"
            return unknown(name, f"{status}: the last change was taken back", remedy)
        if status not in _WELL:
            return wrong(name, status, "see the stack's events, then `cdk deploy` again")
        absent = lacking(outputs(found))
        if absent:
            remedy = "give the control plane's stack by --stack, or deploy this version of it"
            return wrong(name, f"its outputs lack {', '.join(absent)}", remedy)
        return ok(name, status)

    missing = f"`cdk deploy {stack}` makes it; name another by --stack, --profile or AWS_REGION"
    return judge(name, answer, missing=missing, by=by)


def resources(answer: Missing | Unanswered) -> Finding:
    """What is said when nobody may see of what the stack is made."""
    about = "stack's resources"
    remedy = answer.remedy if isinstance(answer, Unanswered) else "look again"
    return unknown(about, answer.words, remedy)
