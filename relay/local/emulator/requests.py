"""Which services a request writes to, read from its signature, method and action."""

import re
from dataclasses import dataclass
from typing import Any

_CREDENTIAL = re.compile(rb"Credential=[^/]+/\d+/[^/]+/([a-z0-9-]+)/aws4_request")
_READS = re.compile("Get|Describe|List|Query|Scan|BatchGet|Lookup|Validate")
_READ_METHODS = {"GET", "HEAD", "OPTIONS"}
_ITEM_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
# A message that comes again after a crash is what any reader of a queue must bear.
_FORGIVING = re.compile("ReceiveMessage|DeleteMessage|ChangeMessageVisibility")
_STARTS = {"StartExecution", "StopExecution"}
_AT_ONCE = {"iam", "sts"}
"""Besides those below: whoever holds credentials cannot know that they or their rights are void."""
_STATE_NAMES = {
    "states": "stepfunctions",
    "events": "eventbridge",
    "logs": "cloudwatch_logs",
    "monitoring": "cloudwatch",
}
ANY = "*"


@dataclass(frozen=True)
class Written:
    """The services a request changes, and those that must be on disk before its answer."""

    services: frozenset[str]
    at_once: frozenset[str] = frozenset()


def written_by(scope: dict[str, Any]) -> Written | None:
    """What an HTTP request changes; None if it only reads."""
    headers = dict(scope.get("headers", []))
    service = _service(headers.get(b"authorization", b""))
    action = headers.get(b"x-amz-target", b"").rpartition(b".")[2].decode()
    if service == "cloudformation":
        # A deployment runs on behind its first request; the questions after it save it too, so
        # that one who hears that it is complete may rely on it.
        return Written(frozenset({ANY}), frozenset({ANY}))
    if action:
        return _by_action(_STATE_NAMES.get(service, service), action)
    if scope["method"] in _READ_METHODS:
        return None
    if service == "s3":
        return _by_path(scope["path"])
    name = frozenset({_STATE_NAMES.get(service, service)})
    return Written(name, name if service in _AT_ONCE else frozenset())


def _by_action(service: str, action: str) -> Written | None:
    name = frozenset({service})
    if _READS.match(action):
        return None
    if service == "dynamodb" and action in _ITEM_WRITES:
        # Items are in the journal already.
        return Written(name)
    durable = service in {"dynamodb", "sqs"} and not _FORGIVING.match(action)
    return Written(name, name if durable or action in _STARTS else frozenset())


def _by_path(path: str) -> Written:
    """Objects are on disk by themselves, unlike the notification that one may have sent."""
    name, queue = frozenset({"s3"}), frozenset({"sqs"})
    is_object = path.strip("/").count("/") > 0
    return Written(name, queue if is_object else name | queue)


def _service(authorization: bytes) -> str:
    found = _CREDENTIAL.search(authorization)
    return found.group(1).decode() if found else ANY
