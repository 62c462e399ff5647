"""The local stack's processes: embedded AWS, Ray and agent."""

from __future__ import annotations

from relay.doctor.finding import Finding, ok, wrong


def process(name: str, pid: int | None, answers: bool | None, log: str) -> Finding:
    """Whether a process of the local stack is at work.

    Args:
        name: the process's.
        pid: None when it has ended.
        answers: None when it has no address to ask at.
        log: where it writes.
    """
    about = f"local {name}"
    if pid is None:
        return wrong(about, "ended", f"`relay local up` starts it again; why: {log}")
    if answers is False:
        remedy = f"`relay local down`, `relay local up`; why: {log}"
        return wrong(about, f"process {pid} does not answer", remedy)
    return ok(about, f"process {pid}" + (" answers" if answers else ""))
