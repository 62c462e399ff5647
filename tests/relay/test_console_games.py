"""A run that learns a game: its figures, what the demonstration says of it, and its curve."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import pytest
from game_stories import curve, evaluated, played, playing
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from stories import failed

from contracts.errors import ContractBroken
from relay.console.curve_picture import Evaluation, draw_curve
from relay.console.demo_drawing import draw_report
from relay.console.demo_report import GameReport, Published, report_of_games, work_seconds
from relay.console.durations import now
from relay.console.figures import outcome_of, progress_words
from relay.console.learning_curve import LessonCurve, read_curve
from relay.console.run_drawing import RunDrawing
from relay.console.run_lines import lines_between
from relay.console.story import RunStory

PUBLISHED = Published(version=1, uri="s3://x/", folder="/p")
SVG = "{http://www.w3.org/2000/svg}"


def reported(story: RunStory, *, looked: bool = True) -> GameReport:
    return report_of_games(story, PUBLISHED, 90.0, read_curve(curve(looked=looked)), "/c.svg")


def drawn(made: GameReport, story: RunStory, width: int = 100) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(
        draw_report(made, story, "judge", task="number")
    )
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_progress_of_playing_shows_success_and_mean_reward() -> None:
    attempt = playing().states[-1 - 3].attempts[0]
    assert attempt.progress is not None
    assert progress_words(attempt.progress) == "Training 42/100, success 75.0 %, mean reward 0.500"
    out = io.StringIO()
    Console(file=out, width=100).print(RunDrawing().draw(playing(), now()))
    assert "success 75.0 %   mean reward 0.500" in out.getvalue()


@pytest.mark.parametrize(
    ("phase", "metrics", "words"),
    [
        (
            "collect",
            {"episodes": 256.0, "success_rate": 0.5, "mean_reward": 0.4},
            "256 games played, success 50.0 %, mean reward 0.400",
        ),
        (
            "optimize",
            {"steps": 220.0, "loss": 0.4, "success_after": 0.53},
            "220 steps, success 53.0 % afterwards",
        ),
        (
            "evaluate",
            evaluated(0.55),
            "success 0.0 % → 55.0 % in 1,024 games, 1 task never solved",
        ),
        (
            "evaluate",
            evaluated(0.55, tasks_lost=0.0),
            "success 0.0 % → 55.0 % in 1,024 games",
        ),
    ],
)
def test_a_phase_of_games_says_what_it_came_to(
    phase: str, metrics: dict[str, float], words: str
) -> None:
    assert outcome_of(phase, metrics) == words  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("phase", "metrics", "words"),
    [
        (
            "collect",
            {"records": 60.0, "usable": 60.0, "train_good": 19.0, "train_bad": 25.0}
            | {"held_out_good": 4.0, "held_out_bad": 12.0},
            "60 of 60 records, 19 good ones to learn from, 25 bad, 16 held out",
        ),
        (
            "optimize",
            {"steps": 50.0, "loss": 0.4, "held_out_label_accuracy": 0.75},
            "50 steps, loss 0.400, held-out label accuracy 75.0 %",
        ),
        (
            "evaluate",
            {"start_label_accuracy": 0.5, "end_label_accuracy": 0.75, "comparisons": 48.0}
            | {"start_likelihood": -8.0, "end_likelihood": -5.0, "likelihood_gain": 3.0},
            "label accuracy 50.0 % → 75.0 % in 48 comparisons",
        ),
        (
            "evaluate",
            {"start_label_accuracy": 0.5, "end_label_accuracy": 0.75, "label_accuracy_gain": 0.25}
            | {"start_likelihood": -8.0, "end_likelihood": -5.0, "held_out_good": 4.0},
            "likelihood -8.000 → -5.000 nats a token in 4 good episodes",
        ),
    ],
)
def test_a_phase_of_labels_says_what_it_came_to(
    phase: str, metrics: dict[str, float], words: str
) -> None:
    assert outcome_of(phase, metrics) == words  # type: ignore[arg-type]


def test_both_rounds_evaluations_are_told_as_lines() -> None:
    lines = list(lines_between(None, played()))
    found = [line for line in lines if line.startswith("Evaluate policy: done")]
    assert ["55.0 %" in found[0], "95.0 %" in found[1]] == [True, True]


def test_the_report_has_start_end_rounds_and_what_each_step_added() -> None:
    made = reported(played())
    assert (made.status, made.seconds, made.picture) == ("PUBLISHED", 90.0, "/c.svg")
    assert made.start is not None
    assert made.start.model_dump() == {
        "success_rate": 0.0,
        "mean_reward": -0.75,
        "episodes": 1024,
    }
    assert [one.model_dump() for one in made.rounds] == [
        {
            "round": number,
            "success_rate": success,
            "mean_reward": success - 0.1,
            "episodes": 1024,
            "greedy_success_rate": 0.9375,
        }
        for number, success in ((1, 0.55), (2, 0.95))
    ]
    assert made.end is not None
    assert made.end.model_dump() == made.rounds[1].model_dump(
        include={"success_rate", "mean_reward", "episodes"}
    )
    steps = [(one.round, one.algorithm, one.before, one.after, one.games) for one in made.steps]
    assert steps == [
        (1, "sft", 0.0, 0.5, 512),
        (1, "dpo", 0.5, 0.53125, 512),
        (2, "ppo", 0.5625, 0.9375, 512),
    ]
    assert [one.gain for one in made.steps] == pytest.approx([0.5, 0.03125, 0.375])
    assert [one.gain_low > 0 for one in made.steps] == [True, False, True]


def test_overhead_is_all_but_learning_playing_and_evaluating() -> None:
    work = 4.0 + 8.0 + (5.0 + 3.0) + 1.0 + 2.0
    assert work_seconds(played()) == work
    assert reported(played()).overhead_seconds == 90.0 - work


def test_a_demonstration_that_failed_early_has_no_figures() -> None:
    made = report_of_games(failed(), None, 10, [], None)
    assert (made.status, made.start, made.end) == ("FAILED", None, None)
    assert (made.rounds, made.steps, made.picture) == ((), (), None)
    assert any("FAILED" in line for line in drawn(made, failed()))


@pytest.mark.parametrize("width", [80, 100])
def test_the_end_shows_rounds_steps_tasks_and_the_pictures_place(width: int) -> None:
    lines = drawn(reported(played()), played(), width)
    for line in (
        "1,024 held-out games success 95 % interval greedy mean reward",
        "before 0.0 % 0.0 to 0.4 % -0.75",
        "after round one (sft, dpo) 55.0 % 53.0 to 56.0 % 93.8 % 0.45",
        "after round two (ppo) 95.0 % 93.0 to 96.0 % 93.8 % 0.85",
        "gain +95.0 % +93.0 to +96.0 %",
        "round one, dpo 50.0 % 53.1 % +3.1 % -3.0 to +9.2 %",
        "% by number 1 2",
        "round one 55 0",
        "round two 95 90",
        "learning curve /c.svg",
    ):
        assert line in lines, "\n".join(lines)


def test_a_task_that_is_never_solved_is_red() -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, color_system="standard", force_terminal=True)
    console.print(draw_report(reported(played()), played(), "judge", task="number"))
    assert "\x1b[1;31m 0\x1b[0m" in out.getvalue()


def test_where_the_looks_games_are_not_known_no_step_is_said_to_have_added_anything() -> None:
    made = reported(played(), looked=False)
    assert made.steps == ()
    assert not any("without it" in line for line in drawn(made, played()))


def test_a_curve_is_read_lesson_by_lesson() -> None:
    sft, dpo, ppo = read_curve(curve())
    assert (sft.done, sft.units, sft.before, sft.after, sft.path) == (160, "steps", 0.0, 0.5, [])
    assert (dpo.round, dpo.number, dpo.before) == (1, 2, 0.5)
    assert (ppo.units, ppo.before, ppo.after) == ("iterations", 0.5625, 0.9375)
    assert [done for done, _ in ppo.path] == [1, 2, 3, 4, 5, 6, 7]
    assert [success for _, success in ppo.path] == pytest.approx(
        [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85]
    )


def test_a_look_of_another_round_does_not_stand_for_one_before_a_lesson() -> None:
    lines = [line for line in curve().splitlines() if b'"done": 0' not in line]
    assert [lesson.before for lesson in read_curve(b"\n".join(lines))] == [None, 0.5, None]


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"round": 1, "lesson": 1}', b"\xff"])
def test_what_is_no_curve_is_refused_in_words(body: bytes) -> None:
    with pytest.raises(ContractBroken, match="learning curve"):
        read_curve(body)


def test_the_picture_shows_every_lesson_and_evaluation() -> None:
    judged = [Evaluation.of(number, made) for number, made in played().evaluations.items()]
    root = ET.fromstring(draw_curve("a < b", read_curve(curve()), judged, 0.276))
    words = [one.text for one in root.iter(f"{SVG}text")]
    for said in ("a < b", "sft", "dpo", "ppo", "160 steps", "7 iterations", "round 1", "round 2"):
        assert said in words
    assert {"55.0 % sampled", "95.0 % sampled", "93.8 % greedy"} <= set(words)
    assert "guessing blindly 27.6 %" in words
    assert len(list(root.iter(f"{SVG}polygon"))) == len(judged) + 1


units = st.integers(1, 500)
shares = st.floats(0, 1)
lessons = st.lists(
    st.builds(
        LessonCurve,
        st.just(1),
        st.integers(1, 8),
        st.sampled_from(["sft", "dpo", "ppo", "another"]),
        units,
        st.none() | shares,
        st.none() | shares,
        st.just(512),
        st.lists(st.tuples(units, shares), max_size=20),
    ).map(lambda one: one if one.done >= max([0, *(at for at, _ in one.path)]) else last_of(one)),
    min_size=1,
    max_size=8,
)


def last_of(lesson: LessonCurve) -> LessonCurve:
    lesson.done = max(at for at, _ in lesson.path)
    return lesson


@given(lessons)
def test_no_line_of_a_picture_leaves_it(made: list[LessonCurve]) -> None:
    root = ET.fromstring(draw_curve("t", made, [Evaluation(1, 1.0, 0.9, 1.0, 1.0)]))
    for one in root.iter(f"{SVG}polyline"):
        for point in one.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= 900
            assert 0 <= y <= 500
