"""A run as plain lines, for logs and pipes: what changed between two looks. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.ledger import RUN_ENDED
from relay.console.durations import clock
from relay.console.figures import outcome_of, progress_words
from relay.console.story import AttemptStory, RunStory, StateStory

_SHOWN_KINDS = {"task", "wait"}


def lines_between(before: RunStory | None, after: RunStory) -> Iterator[str]:
    """What is to be said of `after` to somebody who was told of `before`."""
    if before is None:
        yield f"run {after.run} of {after.pipeline}"
    old = [state for state in before.states if state.status != "waiting"] if before else []
    for index, state in enumerate(after.states):
        if state.kind in _SHOWN_KINDS and state.status != "waiting":
            yield from _state(old[index] if index < len(old) else None, state)
    if after.status in RUN_ENDED and (before is None or before.status not in RUN_ENDED):
        yield f"{after.status}: {after.reason}" if after.reason else after.status
        if after.remedy:
            yield f"what to do: {after.remedy}"


def _state(before: StateStory | None, after: StateStory) -> Iterator[str]:
    if before is None and after.status == "running":
        yield f"{after.name}"
    for index, attempt in enumerate(after.attempts):
        known = before.attempts[index] if before and index < len(before.attempts) else None
        yield from (f"{after.name}: {said}" for said in _attempt(known, attempt))
    if after.status != "running" and (before is None or before.status == "running"):
        yield _ended(after)


def _attempt(before: AttemptStory | None, after: AttemptStory) -> Iterator[str]:
    if before is None and after.attempt > 1:
        yield f"attempt {after.attempt}"
    if after.waiting and after.waiting != (before.waiting if before else ""):
        yield after.waiting
    told = before.progress.sequence if before and before.progress else 0
    if after.progress and after.progress.sequence > told:
        yield progress_words(after.progress)
    if after.error and not (before and before.error):
        yield f"attempt {after.attempt} ended: {after.error}: {after.cause}"


def _ended(state: StateStory) -> str:
    took = ""
    if state.entered_at and state.exited_at:
        took = f" in {clock((state.exited_at - state.entered_at).total_seconds())}"
    came_to = ""
    if state.phase and state.attempts:
        came_to = outcome_of(state.phase, state.attempts[-1].metrics)
    words = f"{state.name}: {state.status}{took}"
    return f"{words}, {came_to}" if came_to else words
