"""What the demonstration showed, as one object. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from contracts.model import Contract
from relay.console.learning_curve import LessonCurve
from relay.console.story import RunStory
from training.statistics.proportions import difference, wilson

_LEARNING = {
    "reference",
    "training",
    "looking at held-out pairs",
    "playing",
    "looking back",
    "looking at play",
    "checkpoints",
}
"""Stages of optimize that are learning; all else is loading, importing and moving files."""
_PLAYING = "playing"
_EVALUATING = ("scoring", "playing")
_WORK = "work: "
"""Before the stages of the work itself; all others are of the job around it."""


class Score(Contract):
    """Held-out accuracy, and over how many pairs."""

    accuracy: float
    pairs: int


class GameScore(Contract):
    """How a policy played on held-out seeds, sampled at temperature 1, and in how many games."""

    success_rate: float
    mean_reward: float
    episodes: int


class RoundScore(GameScore):
    """Of the policy that a round ended with; greedily, each task was played once."""

    round: int
    greedy_success_rate: float


class StepGain(Contract):
    """What a step of a round added, by training's own look at play before and after it.

    Attributes:
        round: whose step it is.
        algorithm: sft, dpo or ppo.
        before: success of the policy that the step found, so of one that skips it.
        after: success of the policy that it left.
        gain: the difference.
        gain_low: lower end of its 95% interval.
        gain_high: upper end.
        games: games of either look; the same seeds, which are no evaluation's.
    """

    round: int
    algorithm: str
    before: float
    after: float
    gain: float
    gain_low: float
    gain_high: float
    games: int


class Published(Contract):
    """The pipeline's current policy; `folder` is a copy that outlives the demonstration."""

    version: int
    uri: str
    folder: str


class DemoReport(Contract):
    """What `relay demo --output json` prints.

    Attributes:
        seconds: from the command's start to its end, everything stopped again.
        overhead_seconds: `seconds` less those spent learning, playing and evaluating.
        start: of the policy that the run started from; None when the run did not get so far.
        end: of the policy that the run learnt.
    """

    run: str
    status: Literal["PUBLISHED", "KEPT", "FAILED"]
    seconds: float
    overhead_seconds: float
    start: Score | GameScore | None
    end: Score | GameScore | None
    policy: Published | None


class GameReport(DemoReport):
    """The same of an example that plays.

    Attributes:
        rounds: of each round that was evaluated, on seeds of its own.
        steps: what each step added.
        picture: the learning curve's file; None where there is no curve.
    """

    rounds: tuple[RoundScore, ...]
    steps: tuple[StepGain, ...]
    picture: str | None


def report(story: RunStory, policy: Published | None, seconds: float) -> DemoReport:
    """Sum a demonstration of preferences up."""
    metrics = story.metrics
    return DemoReport(
        **_frame(story, seconds),
        start=_score(metrics, "start_accuracy"),
        end=_score(metrics, "end_accuracy"),
        policy=policy,
    )


def report_of_games(
    story: RunStory,
    policy: Published | None,
    seconds: float,
    lessons: Sequence[LessonCurve],
    picture: str | None,
) -> GameReport:
    """Sum a demonstration of games up."""
    return GameReport(
        **_frame(story, seconds),
        start=_game_score(story.metrics, "start"),
        end=_game_score(story.metrics, "end"),
        policy=policy,
        rounds=tuple(_rounds(story)),
        steps=tuple(_steps(lessons)),
        picture=picture,
    )


def _frame(story: RunStory, seconds: float) -> dict[str, object]:
    return {
        "run": story.run,
        "status": "FAILED" if story.status not in {"PUBLISHED", "KEPT"} else story.status,
        "seconds": round(seconds, 1),
        "overhead_seconds": round(seconds - work_seconds(story), 1),
    }


def work_seconds(story: RunStory) -> float:
    """Seconds that the run's jobs say they spent learning, playing and evaluating."""
    return sum(
        seconds
        for state in story.states
        for attempt in state.attempts
        for named, seconds in attempt.seconds.items()
        if _is_work(state.phase, named.removeprefix(_WORK))
    )


def _is_work(phase: str | None, stage: str) -> bool:
    return (
        (phase == "collect" and stage == _PLAYING)
        or (phase == "optimize" and stage in _LEARNING)
        or (phase == "evaluate" and stage.startswith(_EVALUATING))
    )


def _score(metrics: Mapping[str, float], name: str) -> Score | None:
    if name not in metrics or "pairs" not in metrics:
        return None
    return Score(accuracy=metrics[name], pairs=int(metrics["pairs"]))


def _game_score(metrics: Mapping[str, float], side: str) -> GameScore | None:
    if f"{side}_success_rate" not in metrics:
        return None
    return GameScore(
        success_rate=metrics[f"{side}_success_rate"],
        mean_reward=metrics[f"{side}_mean_reward"],
        episodes=int(metrics["episodes"]),
    )


def _rounds(story: RunStory) -> Iterator[RoundScore]:
    for number, metrics in story.evaluations.items():
        score = _game_score(metrics, "end")
        if score is not None:
            greedy = metrics["greedy_success_rate"]
            yield RoundScore(**score.model_dump(), round=number, greedy_success_rate=greedy)


def _steps(lessons: Sequence[LessonCurve]) -> Iterator[StepGain]:
    for lesson in lessons:
        if lesson.before is None or lesson.after is None or not lesson.games:
            continue
        before, after = (
            wilson(round(value * lesson.games), lesson.games)
            for value in (lesson.before, lesson.after)
        )
        gain = difference(after, before)
        yield StepGain(
            round=lesson.round,
            algorithm=lesson.algorithm,
            before=before.value,
            after=after.value,
            gain=gain.value,
            gain_low=gain.low,
            gain_high=gain.high,
            games=lesson.games,
        )
