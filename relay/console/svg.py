"""The few elements of SVG that a chart needs, as text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

Point = tuple[float, float]


def document(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """A whole file; `title` is what a screen reader says."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}" height="{_n(height)}" role="img" '
        'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">'
    )
    return "\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>"]) + "\n"


def rectangle(at: Point, size: Point, fill: str, radius: float = 0) -> str:
    """A filled rectangle, by its upper left corner."""
    return (
        f'<rect x="{_n(at[0])}" y="{_n(at[1])}" width="{_n(size[0])}" height="{_n(size[1])}" '
        f'rx="{_n(radius)}" fill={quoteattr(fill)}/>'
    )


def line(
    points: Sequence[Point], color: str, width: float, *, dash: str = "", opacity: float = 1
) -> str:
    """A line through points."""
    path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    faint = f' stroke-opacity="{_n(opacity)}"' if opacity < 1 else ""
    return (
        f'<polyline points="{path}" fill="none" stroke={quoteattr(color)} '
        f'stroke-width="{_n(width)}" stroke-linejoin="round" '
        f'stroke-linecap="round"{dashed}{faint}/>'
    )


def circle(at: Point, radius: float, *, fill: str, color: str = "none", width: float = 0) -> str:
    """A circle, by its middle."""
    return (
        f'<circle cx="{_n(at[0])}" cy="{_n(at[1])}" r="{_n(radius)}" fill={quoteattr(fill)} '
        f'stroke={quoteattr(color)} stroke-width="{_n(width)}"/>'
    )


def diamond(at: Point, radius: float, *, fill: str, color: str, width: float) -> str:
    """A square on its corner, by its middle."""
    x, y = at
    corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)]
    path = " ".join(f"{_n(a)},{_n(b)}" for a, b in corners)
    return (
        f'<polygon points="{path}" fill={quoteattr(fill)} stroke={quoteattr(color)} '
        f'stroke-width="{_n(width)}"/>'
    )


def text(
    at: Point, words: str, *, size: float, color: str, anchor: str = "start", bold: bool = False
) -> str:
    """Words by their base line; `anchor` is start, middle or end.

    A white rim keeps them legible over lines.
    """
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{_n(at[0])}" y="{_n(at[1])}" font-size="{_n(size)}" fill={quoteattr(color)} '
        f'text-anchor="{anchor}"{weight} paint-order="stroke" stroke="#ffffff" '
        f'stroke-width="3" stroke-linejoin="round">{escape(words)}</text>'
    )


def moved(right: float, down: float, parts: Iterable[str]) -> str:
    """Elements, further to the right and down."""
    return f'<g transform="translate({_n(right)} {_n(down)})">{"".join(parts)}</g>'


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
