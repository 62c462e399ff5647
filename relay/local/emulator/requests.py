"""Which services a request writes to, read from its signature and method."""

import re
from dataclasses import dataclass
from typing import Any

_CREDENTIAL = re.compile(rb"Credential=[^/]+/\d+/[^/]+/([a-z0-9-]+)/aws4_request")
_READ = re.compile(rb"(?:Get|Describe|List|Query|Scan|BatchGet|Lookup|Receive|Validate)[A-Z]?")
_READ_METHODS = {"GET", "HEAD", "OPTIONS"}
_OTHER_NAMES = {
    "states": "stepfunctions",
    "events": "eventbridge",
    "logs": "cloudwatch_logs",
    "monitoring": "cloudwatch",
}
_STARTS = (b"StartExecution", b"StopExecution")


@dataclass(frozen=True)
class Written:
    """The services a request changes ("*": any), and whether that is saved before the answer."""

    services: frozenset[str]
    before_answer: bool = False


def written_by(scope: dict[str, Any]) -> Written | None:
    """What the request changes; None if it only reads."""
    headers = dict(scope.get("headers", []))
    service = _service(headers.get(b"authorization", b""))
    target = headers.get(b"x-amz-target", b"").rpartition(b".")[2]
    if service == "cloudformation":
        # A deployment runs on behind its first request; those that watch it also save it.
        return Written(frozenset({"*"}))
    if target:
        return _written_by_action(service, target)
    if scope["method"] in _READ_METHODS:
        return None
    if service == "s3":
        return Written(frozenset({"s3", "sqs"}), before_answer=True)
    return Written(frozenset({_OTHER_NAMES.get(service, service)}))


def _written_by_action(service: str, action: bytes) -> Written | None:
    name = frozenset({_OTHER_NAMES.get(service, service)})
    if action.startswith(b"ReceiveMessage"):
        return Written(name)
    if _READ.match(action):
        return None
    durable = service in {"sqs", "dynamodb"} or action in _STARTS
    return Written(name, before_answer=durable)


def _service(authorization: bytes) -> str:
    found = _CREDENTIAL.search(authorization)
    return found.group(1).decode() if found else "*"
