"""What may go wrong between a client and the server: it is down, busy, or slow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fakes.kube_api.calls import Answer, Call
from fakes.kube_api.refusals import Refused

_TEXTS = {
    429: ("TooManyRequests", "Too many requests, please try again later."),
    500: ("InternalError", "Internal error occurred: etcdserver: request timed out"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "the server was unable to return a response in the time allotted"),
}


@dataclass
class _Outage:
    hits: Callable[[Call], bool]
    answer: Answer | None
    seconds: float
    left: int | None


def everything(_call: Call) -> bool:
    return True


def writing(call: Call) -> bool:
    return call.method != "GET"


class Outages:
    """What is wrong at the moment; the first that hits a call decides."""

    def __init__(self) -> None:
        self._current: list[_Outage] = []
        self._lock = threading.Lock()

    def fail(
        self,
        code: int,
        *,
        times: int | None = None,
        retry_after_s: int | None = None,
        hits: Callable[[Call], bool] = everything,
    ) -> None:
        """Answer with an error, so many times or until `heal`."""
        reason, message = _TEXTS[code]
        details: dict[str, Any] = {}
        headers = {}
        if retry_after_s is not None:
            details["retryAfterSeconds"] = retry_after_s
            headers["Retry-After"] = str(retry_after_s)
        status = Refused(code, reason, message, details).status()
        self._add(_Outage(hits, Answer(code, status, headers), 0, times))

    def slow(
        self,
        seconds: float,
        *,
        times: int | None = None,
        hits: Callable[[Call], bool] = everything,
    ) -> None:
        """Take a while for each answer."""
        self._add(_Outage(hits, None, seconds, times))

    def heal(self) -> None:
        with self._lock:
            self._current.clear()

    def meet(self, call: Call) -> Answer | None:
        """Let the call meet what is wrong; an answer if it gets no other."""
        outage = self._hit(call)
        if outage is None:
            return None
        time.sleep(outage.seconds)
        return outage.answer

    def _add(self, outage: _Outage) -> None:
        with self._lock:
            self._current.append(outage)

    def _hit(self, call: Call) -> _Outage | None:
        with self._lock:
            for outage in self._current:
                if outage.left != 0 and outage.hits(call):
                    if outage.left is not None:
                        outage.left -= 1
                    return outage
        return None
