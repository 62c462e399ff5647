"""A function's error keeps its name, and its process.

AWS: the error of a Python function is the name of its exception class, which Retry and Catch
match; the process lives on. A process that ends is Runtime.ExitError.
MiniStack: calls every error Runtime.HandlerError, ends the process, and calls a process that
ended Runtime.HandlerError too.
"""

from collections.abc import Callable
from typing import Any

from ministack.core import lambda_runtime
from ministack.services import lambda_svc

from relay.local.emulator.runtime.relay_function import FAILURE, HANDLER

_WRAPPER = "relay_function.call"
_DIED = "Worker process died"


def close() -> None:
    """Put our own wrapper around every Python handler, and unwrap its failures."""
    lambda_runtime.Worker.__init__ = _wrapping(lambda_runtime.Worker.__init__)
    lambda_svc._execute_function_warm = _unwrapping(lambda_svc._execute_function_warm)


def _wrapping(init: Callable[..., None]) -> Callable[..., None]:
    def init_wrapped(
        self: object, name: str, config: dict[str, Any], *rest: object, **named: object
    ) -> None:
        if str(config.get("Runtime", "")).startswith("python"):
            variables = config.get("Environment", {}).get("Variables", {})
            config = {
                **config,
                "Handler": _WRAPPER,
                "Environment": {"Variables": {**variables, HANDLER: config["Handler"]}},
            }
        init(self, name, config, *rest, **named)

    return init_wrapped


def _unwrapping(execute: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def execute_unwrapped(
        function: dict[str, Any], event: object, request_id: str
    ) -> dict[str, Any]:
        answer = execute(function, event, request_id)
        body = answer.get("body")
        if isinstance(body, dict) and FAILURE in body:
            failure = {**body[FAILURE], "requestId": request_id}
            trace = "".join(failure["stackTrace"])
            log = "\n".join(filter(None, [answer.get("log"), trace]))
            return {**answer, "body": failure, "error": True, "log": log}
        if answer.get("error") and isinstance(body, dict) and body.get("errorMessage") == _DIED:
            return {**answer, "body": {**body, "errorType": "Runtime.ExitError"}}
        return answer

    return execute_unwrapped
