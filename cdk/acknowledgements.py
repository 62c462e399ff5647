"""Findings of the rule packs that stay, each with the reason why.

A finding is acknowledged where it is and by its whole id, wildcard included, so that a new
wildcard, or the same one in another role, fails the synthesis.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

from aws_cdk import Acknowledgment, CfnElement, Validations
from constructs import IConstruct

from cdk.cluster_access import ClusterAccess
from cdk.stack import ControlPlane
from contracts.layout import INCOMING, PIPELINES, POLICIES, REJECTED, RUNS

ANY = "*"
EXECUTIONS = "executions"

_KEYS_ARE_NEW = "keys below this prefix are made as runs go by; nothing outside it is reached"
WILDCARDS = {
    ANY: "traces, log delivery and answers to tasks have no resource that a policy could name; "
    "a task is answered by its token, which nobody can guess",
    EXECUTIONS: "executions are named by runs that do not exist yet; of this machine only",
    f"{INCOMING}*": f"uploads: {_KEYS_ARE_NEW}",
    f"{REJECTED}*": f"reports on what was refused: {_KEYS_ARE_NEW}",
    f"{RUNS}*": f"specs, progress and results: {_KEYS_ARE_NEW}",
    f"{RUNS}*/plan.json": "one plan for every run, and no other object of it",
    f"{PIPELINES}*": f"registered recipes: {_KEYS_ARE_NEW}",
    f"{POLICIES}*": f"exported policies: {_KEYS_ARE_NEW}",
    f"{POLICIES}*/current.json": "one pointer for every pipeline, and no policy itself",
}
"""Why a wildcard is needed; the same reason for whoever has it."""


class Stays(NamedTuple):
    """One finding that stays."""

    where: IConstruct
    finding: str
    reason: str


def acknowledge(stack: ControlPlane, access: ClusterAccess | None = None) -> None:
    """Record every finding that stays."""
    for found in stays(stack, access):
        Validations.of(found.where).acknowledge(
            Acknowledgment(id=found.finding, reason=found.reason)
        )


def stays(stack: ControlPlane, access: ClusterAccess | None = None) -> Iterator[Stays]:
    """All findings that stay.

    Args:
        stack: the control plane's.
        access: to a cluster, where jobs run on one.
    """
    yield from _storage(stack)
    yield from _queues(stack)
    yield from _functions(stack)
    yield from _alarms(stack)
    yield from _wildcards(stack, access)


def _storage(stack: ControlPlane) -> Iterator[Stays]:
    yield Stays(
        stack.store.bucket,
        "AwsSolutions-S1",
        "jobs overwrite small objects all the time, so access logs would outgrow the data; who "
        "needs an audit turns on CloudTrail data events for the bucket, which name the role",
    )


def _queues(stack: ControlPlane) -> Iterator[Stays]:
    for queue in stack.ends.values():
        yield Stays(queue, "Serverless-SQSRedrivePolicy", "this queue is where redriving ends")
    yield Stays(
        stack.missed_sweeps,
        "AwsSolutions-SQS3",
        "it is the on-failure destination of the schedule; the next sweep does what one missed",
    )


def _functions(stack: ControlPlane) -> Iterator[Stays]:
    for each in (stack.intake, stack.submit, stack.report, stack.decide, stack.sweep):
        for rule in ("AwsSolutions-L1", "Serverless-LambdaLatestVersion"):
            yield Stays(
                each.function,
                rule,
                "Python 3.13 is what the code is checked with and the Powertools layer is pinned "
                "for; it is supported, and both move together",
            )
        yield Stays(
            each.function,
            "Serverless-LambdaDLQ",
            "nothing is lost without one: queues redrive, the state machine retries and fails "
            "the run, and the schedule's calls have an on-failure destination",
        )
        yield Stays(
            each.role, "Serverless-LambdaStarPermissions", f"the resource *: {WILDCARDS[ANY]}"
        )
    for each in (stack.intake, stack.report):
        yield Stays(
            each.source,
            "Serverless-LambdaEventSourceMappingDestination",
            "SQS sources know no on-failure destination; the queue's dead letters are it",
        )


def _alarms(stack: ControlPlane) -> Iterator[Stays]:
    if stack.alarms.topic is not None:
        yield Stays(
            stack.alarms.mail,
            "Serverless-SNSRedrivePolicy",
            "a letter that cannot be delivered tells of an alarm whose state the console shows "
            "all the same; nobody would read a queue of such letters",
        )


class Held(NamedTuple):
    """A role, the patterns it is allowed, and the bucket they are of as the rule pack writes it."""

    role: IConstruct
    patterns: tuple[str, ...]
    bucket: str


def _held(stack: ControlPlane, access: ClusterAccess | None) -> Iterator[Held]:
    runs, incoming, rejected = f"{RUNS}*", f"{INCOMING}*", f"{REJECTED}*"
    pipelines, policies = f"{PIPELINES}*", f"{POLICIES}*"
    plans, current = f"{RUNS}*/plan.json", f"{POLICIES}*/current.json"
    job = (incoming, runs, policies, pipelines)
    bucket = (
        f"<{stack.get_logical_id(cast(CfnElement, stack.store.bucket.node.default_child))}.Arn>"
    )
    yield Held(stack.intake.role, (ANY, incoming, pipelines, rejected), bucket)
    yield Held(stack.submit.role, (ANY, runs), bucket)
    yield Held(stack.report.role, (ANY, runs, rejected, EXECUTIONS), bucket)
    yield Held(
        stack.decide.role, (ANY, runs, policies, pipelines, plans, current, rejected), bucket
    )
    yield Held(stack.sweep.role, (ANY, runs, rejected, EXECUTIONS), bucket)
    yield Held(stack.runs.role, (ANY,), bucket)
    if access is None:
        yield Held(stack.jobs.roles["Job"].role, job, bucket)
        yield Held(stack.jobs.roles["Agent"].role, (runs,), bucket)
    else:
        told = f'{{"StackName":"{stack.stack_name}","OutputName":"Bucket"}}'
        theirs = f'arn:<AWS::Partition>:s3:::{{"Fn::GetStackOutput":{told}}}'
        yield Held(access.job.role, job, theirs)


def _wildcards(stack: ControlPlane, access: ClusterAccess | None) -> Iterator[Stays]:
    for held in _held(stack, access):
        for pattern in held.patterns:
            shown = _shown(stack, pattern, held.bucket)
            yield Stays(held.role, f"AwsSolutions-IAM5[Resource::{shown}]", WILDCARDS[pattern])


def _shown(stack: ControlPlane, pattern: str, bucket: str) -> str:
    """A resource as the rule pack writes it."""
    if pattern == ANY:
        return ANY
    if pattern == EXECUTIONS:
        where = "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>"
        return f"{where}:execution:{stack.stack_name}-runs:*"
    return f"{bucket}/{pattern}"
