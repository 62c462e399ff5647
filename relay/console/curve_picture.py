"""The learning curve as a picture: success over steps and iterations, round after round. Pure.

What was measured how is told by the marks: a ring is training's own look at play before or after
a lesson, a thin line the games that ppo learnt from (each iteration other ones), a diamond the
evaluation on held-out seeds, with its 95% interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from relay.console.figures import share
from relay.console.learning_curve import LessonCurve
from relay.console.svg import Point, circle, diamond, document, line, moved, rectangle, text

_WIDTH, _HEIGHT = 900.0, 500.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 66.0, 876.0, 132.0, 428.0
_HEAD = 46.0
"""Height above 100 % where a lesson's name is."""
_GUTTER = 30.0
"""Width behind a round, where its evaluation is."""
_SHORT = 128.0
"""Width of a lesson of which only the ends are known."""
_MARGIN = 24.0
_LETTER = 6.1
"""Width of a letter of the legend, roughly."""
_SMOOTH = 5
_INK, _FAINT, _GRID = "#1f2733", "#6b7686", "#e6eaf0"
_COLORS = {
    "sft": ("#4f6bd8", "#f2f5fd"),
    "dpo": ("#0f9488", "#eef9f7"),
    "ppo": ("#d9662b", "#fdf5ef"),
}
_OTHER = ("#6b7686", "#f4f5f7")
_HELD_OUT = "#1f2733"


@dataclass(frozen=True)
class Evaluation:
    """Success on held-out seeds after a round, with its 95% interval; greedily as well."""

    round: int
    success: float
    low: float
    high: float
    greedy: float

    @classmethod
    def of(cls, round_: int, figures: Mapping[str, float]) -> Evaluation:
        """Read the figures of a round's evaluation."""
        name = "end_success_rate"
        low, high = figures[f"{name}_low"], figures[f"{name}_high"]
        return cls(round_, figures[name], low, high, figures["greedy_success_rate"])


@dataclass(frozen=True)
class _Span:
    """A lesson and where on the picture it is."""

    lesson: LessonCurve
    left: float
    right: float

    @property
    def color(self) -> str:
        return _COLORS.get(self.lesson.algorithm, _OTHER)[0]

    @property
    def tint(self) -> str:
        return _COLORS.get(self.lesson.algorithm, _OTHER)[1]

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    def x(self, done: float) -> float:
        return self.left + (self.right - self.left) * done / max(1, self.lesson.done)


def draw_curve(
    title: str,
    lessons: Sequence[LessonCurve],
    evaluations: Sequence[Evaluation],
    chance: float | None = None,
) -> str:
    """An SVG file.

    Args:
        title: what it is of.
        lessons: in their order, at least one.
        evaluations: one a round, of rounds that were evaluated.
        chance: success of guessing blindly, if known.
    """
    spans = _spans(lessons)
    parts = [
        rectangle((0, 0), (_WIDTH, _HEIGHT), "#ffffff"),
        text((_MARGIN, 34), title, size=19, color=_INK, bold=True),
        *_legend(plays=any(span.lesson.path for span in spans), judged=bool(evaluations)),
        *_backgrounds(spans),
        *_axis(chance),
        *_rounds(spans),
    ]
    for span in spans:
        parts += _curve(span)
    for evaluation in evaluations:
        parts += _evaluation(evaluation, spans)
    return document(_WIDTH, _HEIGHT, title, parts)


def _spans(lessons: Sequence[LessonCurve]) -> list[_Span]:
    rounds = {lesson.round for lesson in lessons}
    room = _RIGHT - _LEFT - _GUTTER * len(rounds)
    long = sum(1 for lesson in lessons if lesson.path)
    short = min(_SHORT, room / len(lessons)) if long else room / len(lessons)
    rest = (room - short * (len(lessons) - long)) / max(1, long)
    spans, left, round_ = [], _LEFT, lessons[0].round
    for lesson in lessons:
        left += _GUTTER * (lesson.round != round_)
        round_ = lesson.round
        right = left + (rest if lesson.path else short)
        spans.append(_Span(lesson, left, right))
        left = right
    return spans


def _y(success: float) -> float:
    return _BOTTOM - success * (_BOTTOM - _TOP)


def _ring(at: Point, color: str) -> list[str]:
    return [circle(at, 4.5, fill="#ffffff", color=color, width=2)]


def _diamond(at: Point) -> list[str]:
    return [diamond(at, 6, fill=_HELD_OUT, color="#ffffff", width=1.5)]


def _legend(*, plays: bool, judged: bool) -> Iterator[str]:
    x, y = _MARGIN, 60.0
    entries = [("training's look before and after a step", _ring((x + 9, y - 4), _FAINT))]
    if plays:
        color = _COLORS["ppo"][0]
        raw = line([(x, y - 4), (x + 18, y - 4)], color, 1.2, opacity=0.45)
        mean = line([(x, y - 4), (x + 18, y - 4)], color, 2.6)
        entries.append(("games of one iteration", [raw]))
        entries.append((f"mean of {_SMOOTH}", [mean]))
    if judged:
        entries.append(("evaluation on held-out seeds, 95 %", _diamond((x + 9, y - 4))))
    at = 0.0
    for words, mark in entries:
        yield moved(at, 0, mark)
        yield text((x + at + 26, y), words, size=12.5, color=_FAINT)
        at += 26 + _LETTER * len(words) + 20


def _backgrounds(spans: Sequence[_Span]) -> Iterator[str]:
    top = _TOP - _HEAD
    for span in spans:
        yield rectangle((span.left, top), (span.right - span.left, _BOTTOM - top), span.tint)
        name, done = span.lesson.algorithm, f"{span.lesson.done:,} {span.lesson.units}"
        at = (span.middle, top + 19)
        yield text(at, name, size=15, color=span.color, anchor="middle", bold=True)
        yield text((at[0], at[1] + 16), done, size=11.5, color=_FAINT, anchor="middle")


def _axis(chance: float | None) -> Iterator[str]:
    for percent in range(0, 101, 25):
        y = _y(percent / 100)
        yield line([(_LEFT, y), (_RIGHT, y)], _GRID, 1)
        yield text((_LEFT - 8, y + 4), f"{percent} %", size=12, color=_FAINT, anchor="end")
    if chance is not None:
        y = _y(chance)
        yield line([(_LEFT, y), (_RIGHT, y)], _FAINT, 1, dash="2 5")
        words = f"guessing blindly {share(chance)}"
        yield text((_RIGHT - _GUTTER - 6, y + 16), words, size=11.5, color=_FAINT, anchor="end")


def _rounds(spans: Sequence[_Span]) -> Iterator[str]:
    for number in sorted({span.lesson.round for span in spans}):
        mine = [span for span in spans if span.lesson.round == number]
        left, right, y = mine[0].left, mine[-1].right, _BOTTOM + 28
        yield line([(left + 3, y), (right - 3, y)], _FAINT, 1)
        words = f"round {number}"
        yield text(((left + right) / 2, y + 19), words, size=12.5, color=_INK, anchor="middle")
    for span in spans:
        if span.lesson.path:
            yield from _ticks(span)


def _ticks(span: _Span) -> Iterator[str]:
    done = span.lesson.done
    every = max(1, 10 ** (len(str(done)) - 1))
    every = every // 2 if done // every <= 2 and every > 1 else every  # noqa: PLR2004 - two marks
    for unit in range(every, done + 1, every):
        x = span.x(unit)
        yield line([(x, _BOTTOM), (x, _BOTTOM + 4)], _FAINT, 1)
        yield text((x, _BOTTOM + 17), f"{unit:,}", size=11.5, color=_FAINT, anchor="middle")


def _curve(span: _Span) -> Iterator[str]:
    lesson = span.lesson
    ends = [
        (span.x(done), _y(value))
        for done, value in ((0, lesson.before), (lesson.done, lesson.after))
        if value is not None
    ]
    if lesson.path:
        raw = [(span.x(done), _y(value)) for done, value in lesson.path]
        yield line(raw, span.color, 1.2, opacity=0.45)
        yield line([(span.x(at), _y(value)) for at, value in _means(lesson.path)], span.color, 2.6)
    elif len(ends) == 2:  # noqa: PLR2004 - both
        yield line(ends, span.color, 2, dash="6 5")
    for end in ends:
        yield from _ring(end, span.color)


def _means(path: Sequence[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    """Of the last few units, from where there are so many."""
    for last in range(_SMOOTH, len(path) + 1):
        window = path[last - _SMOOTH : last]
        yield window[-1][0], sum(value for _, value in window) / _SMOOTH


def _evaluation(evaluation: Evaluation, spans: Sequence[_Span]) -> Iterator[str]:
    ends = [span.right for span in spans if span.lesson.round == evaluation.round]
    if not ends:
        return
    x, y = ends[-1] + _GUTTER / 2, _y(evaluation.success)
    low, high = _y(evaluation.low), _y(evaluation.high)
    yield line([(x, low), (x, high)], _HELD_OUT, 2)
    for end in (low, high):
        yield line([(x - 5, end), (x + 5, end)], _HELD_OUT, 2)
    yield from _diamond((x, y))
    last = x + _GUTTER > _RIGHT
    at, anchor = (x + 10, "end") if last else (x - 4, "start")
    below = low + (34 if last else 20)
    words = (f"{share(evaluation.success)} sampled", f"{share(evaluation.greedy)} greedy")
    yield text((at, below), words[0], size=14, color=_HELD_OUT, anchor=anchor, bold=True)
    yield text((at, below + 16), words[1], size=12, color=_FAINT, anchor=anchor)
