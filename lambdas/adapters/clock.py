"""Real time and chance."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from contracts.names import SUFFIX_ALPHABET, SUFFIX_LENGTH


class SystemClock:
    """The machine's clock and its random source."""

    def now(self) -> datetime:
        """Aware UTC time."""
        return datetime.now(UTC)

    def suffix(self) -> str:
        """Six random lower-case letters and digits."""
        return "".join(secrets.choice(SUFFIX_ALPHABET) for _ in range(SUFFIX_LENGTH))

    def nonce(self) -> str:
        """An unguessable string of 32 characters."""
        return secrets.token_hex(16)
