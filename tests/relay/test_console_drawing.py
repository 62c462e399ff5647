"""A run as a picture, as lines, and its figures."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from stories import RUN, T0, at, failed, optimizing, published, record

from relay.console.demo_drawing import draw_report
from relay.console.demo_report import Published, report, work_seconds
from relay.console.durations import ago, clock
from relay.console.figures import progress_words, share, sparkline
from relay.console.run_drawing import RunDrawing
from relay.console.run_lines import lines_between
from relay.console.story import RunStory
from relay.console.trail import Trail
from relay.console.watching import watch


def drawn(story: RunStory, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(RunDrawing().draw(story, at(60)))
    return out.getvalue()


def test_a_running_run_is_drawn_with_marks_times_a_bar_and_its_moving_figures() -> None:
    lines = drawn(optimizing()).splitlines()
    assert lines[0].startswith(f"preferences  {RUN}")
    assert lines[0].rstrip().endswith("RUNNING  1:00")
    assert "✓  Gather drops          0:01" in lines[3]
    assert "●  Optimize policy       0:57  Training ━" in lines[6]
    assert "42/100" in lines[6]
    assert "loss 0.512   held-out accuracy 75.0 %" in lines[7]
    assert lines[-1].split() == ["○", "Publish", "or", "keep"]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("story", [optimizing(), published(), failed()])
def test_no_line_of_a_picture_is_wider_than_the_terminal(story: RunStory, width: int) -> None:
    assert max(map(len, drawn(story, width).splitlines())) <= width


def test_a_failed_run_is_drawn_with_each_attempt_and_what_to_do() -> None:
    text = drawn(failed())
    assert text.count("killed by signal 9") >= 2
    assert "attempt 1 JobCrashed" in text
    assert "attempt 2 JobCrashed" in text
    assert "What to do: look at the job's log" in text


def test_what_happened_to_machines_is_said_under_the_head() -> None:
    told = optimizing().model_copy(update={"note": "machine i-0 is Unschedulable: [XidError] 79"})
    assert "meanwhile: machine i-0 is Unschedulable: [XidError] 79" in drawn(told)
    assert "meanwhile" not in drawn(optimizing())


def test_a_published_run_ends_with_its_version_and_place() -> None:
    text = drawn(published())
    assert "accuracy 50.0 % → 90.0 % on 160 pairs" in text
    assert "Published version 1" in text
    assert "s3://bucket/policies/preferences/r/" in text


def test_a_kept_run_says_why() -> None:
    story = optimizing(record=record(status="KEPT", reason="no gain", ended_at=at(9)))
    assert "Kept the current policy: no gain" in drawn(story)


def test_lines_say_each_thing_once() -> None:
    first = list(lines_between(None, optimizing(42, 3)))
    assert first[0] == f"run {RUN} of preferences"
    assert "Optimize policy" in first
    assert "Optimize policy: Training 42/100, loss 0.512, held-out accuracy 75.0 %" in first
    assert list(lines_between(optimizing(42, 3), optimizing(42, 3))) == []
    assert list(lines_between(optimizing(42, 3), optimizing(60, 4))) == [
        "Optimize policy: Training 60/100, loss 0.512, held-out accuracy 75.0 %"
    ]
    last = list(lines_between(optimizing(), published()))
    assert "Evaluate policy: done in 0:01, accuracy 50.0 % → 90.0 % on 160 pairs" in last
    assert last[-1] == "PUBLISHED: accuracy is better"


def test_lines_of_a_failure_name_error_and_remedy() -> None:
    lines = list(lines_between(optimizing(), failed()))
    assert "Optimize policy: attempt 2 ended: JobCrashed: killed by signal 9" in lines
    assert lines[-1].startswith("what to do: ")


def test_off_a_terminal_watching_prints_lines_and_no_escape_codes() -> None:
    out = io.StringIO()
    last = watch(iter([optimizing(42, 3), optimizing(60, 4), published()]), Console(file=out))
    assert last == published()
    assert "\x1b" not in out.getvalue()
    assert "60/100" in out.getvalue()


def test_on_a_terminal_watching_draws_a_bar_and_the_trail_of_the_figures() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    watch(iter([optimizing(42, 3), optimizing(60, 4)]), console)
    assert "60/100" in out.getvalue()
    assert "▁▁" in out.getvalue()


def test_a_trail_takes_each_report_once() -> None:
    trail = Trail()
    for story in (optimizing(42, 3), optimizing(42, 3), optimizing(60, 4)):
        trail.take(story)
    job = optimizing().states[3].attempts[0].job
    assert trail.values(job, "loss") == [0.5123, 0.5123]
    assert trail.values(job, "margin") == []


@pytest.mark.parametrize(
    ("values", "line"),
    [([], ""), ([3.0], "▁"), ([1.0, 1.0], "▁▁"), ([0.0, 1.0], "▁█"), ([2.0, 1.0, 0.0], "█▅▁")],
)
def test_sparklines(values: list[float], line: str) -> None:
    assert sparkline(values) == line


def test_a_sparkline_shows_the_last_values_only() -> None:
    assert len(sparkline([float(n) for n in range(100)], width=16)) == 16


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0:00"),
        (-3, "0:00"),
        (59.6, "1:00"),
        (754, "12:34"),
        (3723, "1:02:03"),
        (180_000, "2 d 02:00"),
    ],
)
def test_durations(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_how_long_ago() -> None:
    assert [ago(T0, at(s)) for s in (5, 65, 7300, 200_000)] == [
        "5 s ago",
        "1 min ago",
        "2 h ago",
        "2 d ago",
    ]
    assert share(0.08) == "8.0 %"


def test_progress_without_steps_is_its_stage() -> None:
    progress = optimizing().states[3].attempts[0].progress
    assert progress is not None
    bare = progress.model_copy(update={"steps": 0, "metrics": {}})
    assert progress_words(bare) == "Training"


def test_the_demonstrations_overhead_is_all_but_learning_and_evaluating() -> None:
    assert work_seconds(published()) == 8.0 + 2.5
    made = report(published(), Published(version=1, uri="s3://x/", folder="/p"), 90.04)
    assert made.model_dump() == {
        "run": RUN,
        "status": "PUBLISHED",
        "seconds": 90.0,
        "overhead_seconds": 79.5,
        "start": {"accuracy": 0.5, "pairs": 160},
        "end": {"accuracy": 0.9, "pairs": 160},
        "policy": {"version": 1, "uri": "s3://x/", "folder": "/p"},
    }


def test_a_demonstration_that_failed_has_no_figures() -> None:
    made = report(failed(), None, 10)
    assert (made.status, made.start, made.end, made.policy) == ("FAILED", None, None, None)
    out = io.StringIO()
    Console(file=out).print(draw_report(made, failed(), "judge"))
    assert "FAILED" in out.getvalue()
    assert "judge" not in out.getvalue()


def test_the_demonstration_ends_with_before_after_and_interval() -> None:
    made = report(published(), Published(version=1, uri="s3://x/", folder="/p"), 90)
    out = io.StringIO()
    Console(file=out, width=100).print(draw_report(made, published(), "python judge.py /p"))
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert ["before", "50.0", "%", "40.0", "to", "60.0", "%"] in rows
    assert ["after", "90.0", "%", "85.0", "to", "95.0", "%"] in rows
    assert ["gain", "+40.0", "%", "+30.0", "to", "+50.0", "%"] in rows
    assert "python judge.py /p" in out.getvalue()
