"""A function that a rule calls is called asynchronously, and its failures go somewhere.

AWS: EventBridge hands the event to Lambda's asynchronous invocation, which tries three times and
then sends the failure to the function's on-failure destination or dead-letter queue.
MiniStack: calls the function once and forgets a failure.
"""

import json
import logging

from ministack.services import eventbridge, lambda_svc

_log = logging.getLogger("events")


def close() -> None:
    """Call functions of rules through the asynchronous invocation, which MiniStack has."""
    eventbridge._dispatch_to_lambda = _invoke_asynchronously


def _invoke_asynchronously(arn: str, payload: str) -> None:
    function, config, name = lambda_svc._get_func_record_for_ref(arn)
    if not function or not config:
        _log.warning("A rule calls the function %s, which does not exist", name)
        return
    record = lambda_svc._execution_record_for_config(function, config)
    lambda_svc.invoke_async_with_retry(record, json.loads(payload))
