"""Following a run from a command: live on stderr, and Ctrl-C leaves the run alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from relay.commands.endings import FAILED, OK
from relay.commands.voice import listening

if TYPE_CHECKING:
    from relay.console.control_plane import ControlPlane
    from relay.console.story import RunStory


@contextmanager
def interrupted(words: str) -> Iterator[None]:
    """Turn Ctrl-C into a sentence and exit code 130.

    Raises:
        Interrupted: the sentence.
    """
    from relay.console.errors import Interrupted

    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(words) from None


def follow_to_its_end(plane: ControlPlane, run: str) -> RunStory:
    """Show a run until it has ended; its last story.

    Raises:
        NotFound: there is no such run.
        TryAgain: the control plane fell silent.
    """
    from relay.console.following import follow
    from relay.console.story_reading import StoryReader
    from relay.console.watching import watch

    with interrupted(f"the run goes on: `relay watch {run}`, `relay cancel {run}`"):
        story = watch(follow(StoryReader(plane, run)), listening())
    assert story is not None, "a run that is followed has at least one story"
    return story


def exit_code(story: RunStory) -> int:
    """0 when the run published, kept, or had nothing to do; else 1."""
    return OK if story.status in {"PUBLISHED", "KEPT", "EMPTY"} else FAILED
