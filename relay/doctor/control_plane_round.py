"""The round of the control plane: its stack, functions, queues, rules, records, and the clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from relay.doctor.answers import Answer, Found, Missing, Unanswered, found
from relay.doctor.checks import alarms, clock, events, functions, queues, quotas, records, stack
from relay.doctor.finding import Finding
from relay.doctor.reading import Aws

_HASH = re.compile(r"[0-9A-F]{8}$")
_ALARMS_MAX = 100
"""As many may be asked for at a time."""


class ControlPlaneRound:
    """One stack.

    Attributes:
        outputs: the stack's, by name.
        settings: environment of the functions.
    """

    def __init__(self, aws: Aws, name: str, now: Callable[[], datetime]) -> None:
        self._aws = aws
        self._name = name
        self._stack: Answer = aws.ask("cloudformation", "describe_stacks", StackName=name)
        self._asked_at = now()
        self.outputs = stack.outputs(found(self._stack))
        self.settings: Mapping[str, str] = {}
        self._calls_at_a_time = 0

    @property
    def deployed(self) -> bool:
        """Whether there is a stack to look at."""
        return bool(found(self._stack))

    def findings(self) -> Iterator[Finding]:
        """Look at everything of it."""
        yield stack.deployed(self._name, self._stack)
        yield clock.skew(self._date(), self._asked_at)
        if not self.deployed:
            return
        listed = self._listed()
        if isinstance(listed, Missing | Unanswered):
            yield stack.resources(listed)
            return
        resources = _by_kind(listed)
        yield from self._functions(resources)
        yield from self._queues(resources)
        yield from self._rules(resources)
        names = sorted(resources.get("AWS::CloudWatch::Alarm", {}).values())
        if names:
            yield alarms.quiet(
                self._aws.ask("cloudwatch", "describe_alarms", AlarmNames=names[:_ALARMS_MAX])
            )
        if not stack.lacking(self.outputs):
            yield from self._records()

    def quotas(self) -> Iterator[Finding]:
        """Whether the account may do as much as the stack is set up for; after `findings`."""
        yield quotas.concurrency(
            self._aws.ask("lambda", "get_account_settings"), self._calls_at_a_time
        )
        yield quotas.open_executions(
            self._aws.ask_all(
                "service-quotas", "list_service_quotas", "Quotas", ServiceCode="states"
            )
        )

    def _date(self) -> str:
        headers = found(self._stack).get("ResponseMetadata", {}).get("HTTPHeaders", {})
        return str(headers.get("date", ""))

    def _listed(self) -> Answer:
        return self._aws.ask_all(
            "cloudformation",
            "list_stack_resources",
            "StackResourceSummaries",
            StackName=self._name,
        )

    def _functions(self, resources: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
        there: dict[str, Answer] = {}
        for physical in resources.get("AWS::Lambda::Function", {}).values():
            answer = self._aws.ask("lambda", "get_function_configuration", FunctionName=physical)
            there[functions.named(found(answer)) or physical] = answer
        self.settings = self._environment(found(there.get("submit", Missing(""))))
        for name in functions.NAMES:
            answer = there.get(name, Missing(f"the stack has no function {name}"))
            yield functions.ready(name, answer)
            if name in functions.READERS and found(answer):
                yield functions.fed(name, self._sources(str(found(answer)["FunctionName"])))

    def _environment(self, submit: Mapping[str, object]) -> Mapping[str, str]:
        environment = submit.get("Environment")
        return environment.get("Variables", {}) if isinstance(environment, Mapping) else {}

    def _sources(self, function: str) -> Answer:
        answer = self._aws.ask_all(
            "lambda",
            "list_event_source_mappings",
            "EventSourceMappings",
            FunctionName=function,
        )
        for one in found(answer).get("EventSourceMappings", []):
            self._calls_at_a_time += one.get("ScalingConfig", {}).get("MaximumConcurrency", 1)
        return answer

    def _queues(self, resources: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
        for logical, url in sorted(resources.get("AWS::SQS::Queue", {}).items()):
            answer = self._aws.ask(
                "sqs",
                "get_queue_attributes",
                QueueUrl=url,
                AttributeNames=queues.ATTRIBUTES,
            )
            if queues.keeps_dead_letters(logical):
                yield queues.no_dead_letters(logical, answer)
            else:
                yield queues.flowing(logical, answer)

    def _rules(self, resources: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
        for logical, physical in sorted(resources.get("AWS::Events::Rule", {}).items()):
            name = physical.rpartition("/")[2]
            yield events.rule(
                logical,
                self._aws.ask("events", "describe_rule", Name=name),
                self._aws.ask("events", "list_targets_by_rule", Rule=name),
            )

    def _records(self) -> Iterator[Finding]:
        told = self.outputs
        bucket = told["Bucket"]
        yield events.notification(
            self._aws.ask("s3", "get_bucket_notification_configuration", Bucket=bucket),
            uploads=told["UploadsQueueUrl"],
            reports=told["ReportsQueueUrl"],
        )
        yield records.versioned(self._aws.ask("s3", "get_bucket_versioning", Bucket=bucket))
        yield records.ledger(
            self._aws.ask("dynamodb", "describe_table", TableName=told["LedgerTable"])
        )
        yield records.machine(
            self._aws.ask(
                "stepfunctions",
                "describe_state_machine",
                stateMachineArn=told["StateMachineArn"],
            )
        )


def _by_kind(listed: Found) -> dict[str, dict[str, str]]:
    """Physical ids by kind and logical id."""
    kinds: dict[str, dict[str, str]] = {}
    for one in listed["StackResourceSummaries"]:
        logical = _HASH.sub("", one["LogicalResourceId"])
        kinds.setdefault(one["ResourceType"], {})[logical] = one.get("PhysicalResourceId", "")
    return kinds
