"""The demonstration: a local stack of its own, one drop, one run, and nothing left behind."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts import layout
from contracts.errors import PipelineInvalid
from contracts.pipeline import Pipeline
from contracts.policy import PolicyVersion
from contracts.rejection import Rejection
from relay.console.control_plane import ControlPlane, connect
from relay.console.curve_picture import Evaluation, draw_curve
from relay.console.demo_examples import Example
from relay.console.demo_folder import claim, empty
from relay.console.dropping import put, wait_for_run
from relay.console.errors import ToolError, TryAgain
from relay.console.following import follow
from relay.console.interrupts import Interrupts
from relay.console.learning_curve import LessonCurve, read_curve
from relay.console.local_stack import settings_for
from relay.console.locating import DEFAULT_STACK, Location, shut_out_other_aws
from relay.console.pipeline_file import read_pipeline
from relay.console.policy_download import download
from relay.console.registering import apply
from relay.console.story import RunStory
from relay.console.story_reading import StoryReader
from relay.local import stack
from relay.local.places import LocalPlaces
from training.lessons.curve import FILE as CURVE

_CURVE_BYTES_MAX = 16 * 1024 * 1024
_LOOK_EVERY_S = 0.5

Say = Callable[[str], None]
Watch = Callable[[Iterator[RunStory]], RunStory | None]


@dataclass(frozen=True)
class Shown:
    """What the demonstration came to.

    Attributes:
        story: of the run.
        policy: the pipeline's current one.
        folder: where a copy of it is.
        lessons: how the run learnt to play; of an example that plays.
        picture: the same as a file.
    """

    story: RunStory
    policy: PolicyVersion | None = None
    folder: Path | None = None
    lessons: tuple[LessonCurve, ...] = ()
    picture: Path | None = None


def demonstrate(example: Example, folder: Path, seed: int | None, say: Say, watch: Watch) -> Shown:
    """Show the whole line once, from nothing.

    Args:
        example: what is learnt.
        folder: the demonstration's own; its policies and pictures stay, its stack does not.
        seed: in place of the recipe's.
        say: is told what happens.
        watch: shows the run's stories as they come, and returns the last.

    Raises:
        Conflict: where its stack would be is something that it did not make.
        KeyboardInterrupt: SIGINT, SIGTERM or SIGHUP; nothing is left running then either.
    """
    folder.mkdir(parents=True, exist_ok=True)
    places = LocalPlaces((folder / "stack").resolve())
    shut_out_other_aws()
    with _alone(folder / "lock"), Interrupts() as interrupts:
        claim(folder / "stack")
        try:
            with interrupts.heeded():
                stack.down(places)
                empty(places.root)
                stack.up(places, settings_for(places, DEFAULT_STACK), say)
                say(f"Everything is up: putting {example.drop} into the bucket")
                where = Location(DEFAULT_STACK, None, places.root, "the demonstration's stack")
                show = _Show(example, folder, connect(where), say)
                return show.run(seed, watch)
        finally:
            try:
                say("Stopping everything")
            finally:
                # Whoever listened may be gone, as when the terminal was closed.
                stack.down(places)


@dataclass(frozen=True)
class _Show:
    """One run of an example on a stack that is up."""

    example: Example
    folder: Path
    plane: ControlPlane
    say: Say

    def run(self, seed: int | None, watch: Watch) -> Shown:
        """Drop, watch, and fetch what came of it."""
        example, plane = self.example, self.plane
        pipeline = _recipe(example, seed)
        apply(pipeline, plane, dry_run=False)
        dropped = put(plane, example.file, pipeline.name, example.drop)
        found = wait_for_run(plane, dropped, lambda _why: None)
        if isinstance(found, Rejection):
            raise ToolError(f"the example was refused: {found.reason}")
        story = watch(follow(StoryReader(plane, found), _LOOK_EVERY_S))
        if story is None:
            raise ToolError(f"run {found} was not seen")
        lessons = self._lessons(story)
        picture = self._draw(story, lessons) if lessons else None
        policy = _current(plane, pipeline.name)
        place = self._fetch(story, policy) if policy else None
        return Shown(story, policy, place, tuple(lessons), picture)

    def _fetch(self, story: RunStory, policy: PolicyVersion) -> Path:
        place = self.folder / "policies" / f"{story.run}-v{policy.version}"
        self.say(f"Fetching policy version {policy.version}")
        download(self.plane, policy, place)
        return place

    def _lessons(self, story: RunStory) -> list[LessonCurve]:
        """The curve that lies beside the run's policy, whether that was published or not."""
        key = f"{layout.policy(story.pipeline, story.run)}{CURVE}"
        body = self.plane.get(key, _CURVE_BYTES_MAX)
        lessons = [] if body is None else read_curve(body)
        return [lesson for lesson in lessons if lesson.after is not None]

    def _draw(self, story: RunStory, lessons: list[LessonCurve]) -> Path:
        place = self.folder / "curves" / f"{story.run}.svg"
        place.parent.mkdir(parents=True, exist_ok=True)
        title = f"{story.pipeline}: success in the game, run {story.run}"
        judged = [
            Evaluation.of(number, figures)
            for number, figures in story.evaluations.items()
            if "end_success_rate" in figures
        ]
        drawn = draw_curve(title, lessons, judged, self.example.chance)
        place.write_text(drawn, encoding="utf-8")
        return place


def _recipe(example: Example, seed: int | None) -> Pipeline:
    file = example.folder / "pipeline.yaml"
    found = read_pipeline(file.read_text(encoding="utf-8"))
    if isinstance(found, list):
        raise PipelineInvalid(f"{file}:{found[0]}")
    return found if seed is None else found.model_copy(update={"seed": seed})


def _current(plane: ControlPlane, pipeline: str) -> PolicyVersion | None:
    version = plane.logic.ledger.pipelines.get(pipeline).current_version
    return None if version is None else plane.logic.ledger.policies.get(pipeline, version)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TryAgain(f"another demonstration runs in {path.parent}") from error
        yield
