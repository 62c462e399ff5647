"""Whether a phase is without progress for longer than an operator should wait to hear of it."""

from __future__ import annotations

from datetime import datetime, timedelta

from contracts.ledger import AttemptRecord

SILENT_AFTER_S = 900
"""Longer than a machine takes to start and an image to be pulled, shorter than a lost afternoon."""


def is_silent(attempt: AttemptRecord, now: datetime) -> bool:
    """Whether a job's last sign of life is too long ago; a queue is one, while it waits in it."""
    signs = [attempt.submitted_at]
    signs += [at for at in (attempt.queued_at,) if at is not None]
    signs += [attempt.progress.at] if attempt.progress else []
    return now - max(signs) > timedelta(seconds=SILENT_AFTER_S)
