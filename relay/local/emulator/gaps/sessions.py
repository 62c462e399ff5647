"""Temporary credentials last as long as they say, whatever becomes of the process that gave them.

AWS: they are good until they expire.
MiniStack: forgets them when its process ends, so that whoever holds them is turned away.
"""

from __future__ import annotations

from typing import Any

from ministack.services import sts


def close() -> None:
    """Have them saved and restored with everything else."""
    sts.get_state = _saved
    sts.load_persisted_state = _restored


def _saved() -> dict[str, Any]:
    sts._evict_expired_sessions()
    return dict(sts._sessions)


def _restored(data: dict[str, Any]) -> None:
    sts._sessions.update(data)
