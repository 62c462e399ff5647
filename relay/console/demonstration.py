"""The demonstration: a local stack of its own, one drop, one run, and nothing left behind."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import PipelineInvalid
from contracts.pipeline import Pipeline
from contracts.policy import PolicyVersion
from contracts.rejection import Rejection
from relay.console.control_plane import ControlPlane, connect
from relay.console.dropping import put, wait_for_run
from relay.console.errors import ToolError, TryAgain
from relay.console.following import follow
from relay.console.interrupts import Interrupts
from relay.console.leftovers import end_leftovers
from relay.console.local_stack import CHECKOUT, settings_for
from relay.console.locating import DEFAULT_STACK, Location, shut_out_other_aws
from relay.console.pipeline_file import read_pipeline
from relay.console.policy_download import download
from relay.console.registering import apply
from relay.console.story import RunStory
from relay.console.story_reading import StoryReader
from relay.local import stack
from relay.local.places import LocalPlaces

EXAMPLE = CHECKOUT / "examples" / "preferences"
PAIRS = EXAMPLE / "pairs.jsonl"
_LOOK_EVERY_S = 0.5

Say = Callable[[str], None]
Watch = Callable[[Iterator[RunStory]], RunStory | None]


@dataclass(frozen=True)
class Shown:
    """What the demonstration came to; `policy` is the pipeline's current one."""

    story: RunStory
    policy: PolicyVersion | None
    folder: Path | None


def demonstrate(folder: Path, seed: int | None, say: Say, watch: Watch) -> Shown:
    """Show the whole line once, from nothing.

    Args:
        folder: the demonstration's own; its policies stay, its stack does not.
        seed: in place of the recipe's.
        say: is told what happens.
        watch: shows the run's stories as they come, and returns the last.

    Raises:
        KeyboardInterrupt: SIGINT, SIGTERM or SIGHUP; nothing is left running then either.
    """
    folder.mkdir(parents=True, exist_ok=True)
    places = LocalPlaces((folder / "stack").resolve())
    shut_out_other_aws()
    with _alone(folder / "lock"), Interrupts() as interrupts:
        try:
            with interrupts.heeded():
                _tidy(places)
                shutil.rmtree(places.root, ignore_errors=True)
                stack.up(places, settings_for(places, DEFAULT_STACK), say)
                say(f"Everything is up: putting {PAIRS.name} into the bucket")
                where = Location(DEFAULT_STACK, None, places.root, "the demonstration's stack")
                return _show(folder, connect(where), seed, say, watch)
        finally:
            try:
                say("Stopping everything")
            finally:
                # Whoever listened may be gone, as when the terminal was closed.
                _tidy(places)


def _show(folder: Path, plane: ControlPlane, seed: int | None, say: Say, watch: Watch) -> Shown:
    pipeline = _recipe(seed)
    apply(pipeline, plane, dry_run=False)
    dropped = put(plane, PAIRS, pipeline.name, PAIRS.name)
    found = wait_for_run(plane, dropped, lambda _why: None)
    if isinstance(found, Rejection):
        raise ToolError(f"the example was refused: {found.reason}")
    story = watch(follow(StoryReader(plane, found), _LOOK_EVERY_S))
    if story is None:
        raise ToolError(f"run {found} was not seen")
    policy = _current(plane, pipeline.name)
    if policy is None:
        return Shown(story, None, None)
    place = folder / "policies" / f"{story.run}-v{policy.version}"
    say(f"Fetching policy version {policy.version}")
    download(plane, policy, place)
    return Shown(story, policy, place)


def _recipe(seed: int | None) -> Pipeline:
    file = EXAMPLE / "pipeline.yaml"
    found = read_pipeline(file.read_text(encoding="utf-8"))
    if isinstance(found, list):
        raise PipelineInvalid(f"{file}:{found[0]}")
    return found if seed is None else found.model_copy(update={"seed": seed})


def _current(plane: ControlPlane, pipeline: str) -> PolicyVersion | None:
    version = plane.logic.ledger.pipelines.get(pipeline).current_version
    return None if version is None else plane.logic.ledger.policies.get(pipeline, version)


def _tidy(places: LocalPlaces) -> None:
    stack.down(places)
    end_leftovers(places)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TryAgain(f"another demonstration runs in {path.parent}") from error
        yield
