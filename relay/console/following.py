"""Following a run to its end."""

from __future__ import annotations

import time
from collections.abc import Iterator

from botocore.exceptions import BotoCoreError, ClientError

from contracts.ledger import RUN_ENDED
from relay.console.errors import TryAgain
from relay.console.outages import is_outage
from relay.console.story import RunStory
from relay.console.story_reading import StoryReader

LOOK_EVERY_S = 1.0
SILENCE_MAX_S = 120.0
"""AWS may be away for this long, as while it restarts, before watching is given up."""


def follow(reader: StoryReader, every_s: float = LOOK_EVERY_S) -> Iterator[RunStory]:
    """The run's story, again and again; the last one has ended.

    Raises:
        NotFound: there is no such run.
        TryAgain: the control plane did not answer for too long; the run goes on.
    """
    heard = time.monotonic()
    while True:
        try:
            story = reader.read()
        except (BotoCoreError, ClientError) as error:
            if not is_outage(error):
                raise
            if time.monotonic() - heard > SILENCE_MAX_S:
                raise TryAgain(
                    f"the control plane does not answer ({error}); the run goes on, "
                    f"`relay watch {reader.run}` finds it again"
                ) from error
        else:
            heard = time.monotonic()
            yield story
            if story.status in RUN_ENDED:
                return
        time.sleep(every_s)
