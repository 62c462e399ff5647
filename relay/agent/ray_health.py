"""Whether Ray is well, and what is done when it is not."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from datetime import datetime

from contracts.errors import ServiceUnavailable
from relay.agent.ports import Clock, Jobs, RayKeeper

log = logging.getLogger("relay.agent")

GIVE_UP_S = 20.0
"""A Ray that does not answer for this long is dead: all that ran on it is lost."""


@dataclass
class RayHealth:
    """Looks at Ray once a turn; a dead Ray is started again in the background.

    Attributes:
        well: whether Ray takes jobs now.
        dead_since: when Ray was last given up; jobs begun before then are lost. None: never.
    """

    jobs: Jobs
    keeper: RayKeeper
    clock: Clock
    well: bool = False
    dead_since: datetime | None = None
    _silent_since: datetime | None = None
    _restarting: threading.Thread | None = field(default=None, repr=False)

    def look(self) -> None:
        """See whether Ray is well, and give it up when it has not been for too long."""
        if self._restarting is not None and self._restarting.is_alive():
            return
        self._restarting = None
        now = self.clock.now()
        alive = self.keeper.alive()
        self.well = alive is not False and self.jobs.reachable()
        if self.well:
            self._silent_since = None
            return
        self._silent_since = self._silent_since or now
        silent_s = (now - self._silent_since).total_seconds()
        if alive is False or silent_s >= GIVE_UP_S:
            self._give_up(now)

    def _give_up(self, now: datetime) -> None:
        log.error("Ray is gone: jobs on it are lost; starting it again")
        self.dead_since, self._silent_since = now, None
        self._restarting = threading.Thread(target=self._restart, daemon=True, name="restart-ray")
        self._restarting.start()

    def _restart(self) -> None:
        try:
            self.keeper.restart()
        except (ServiceUnavailable, OSError) as error:
            log.error("Ray would not start: %s", error)
