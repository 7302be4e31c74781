"""A chart as a drawing: every place worked out, for the template to write down."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from graphcon.report.blocks import Chart, Series
from graphcon.report.scales import Scale, fit

# Small enough that text stays readable on a phone, where the drawing is shown at three quarters.
WIDTH, HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 72, 14, 20, 46
STYLES = 6  # colours, and as many dashes


class Line(NamedTuple):
    """A series as it is drawn."""

    name: str
    style: str  # the classes of its colour and its dashes
    paths: list[str]
    dots: list[tuple[float, float]]
    band: str


class Drawing(NamedTuple):
    """All that the template needs of a chart."""

    chart: Chart
    x_label: str
    y_label: str
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lines: list[Line]
    areas: list[tuple[str, str, int]]  # name, outline, colour
    marks: list[tuple[float, str]]
    diagonal: str
    stops: list[dict[str, Any]]  # where a reader can stop, and what is said there


def draw(chart: Chart) -> Drawing:
    """Works out every place of a chart."""
    if chart.limits is not None:
        x0, x1, y0, y1 = chart.limits
        across, up = Scale(x0, x1, LEFT, WIDTH - RIGHT), Scale(y0, y1, HEIGHT - BOTTOM, TOP)
    else:
        across = fit((x for s in chart.series for x in s.x), LEFT, WIDTH - RIGHT, chart.log_x, 0.02)
        heights = [y for s in chart.series for y in (*s.y, *s.low, *s.high) if y is not None]
        up = fit(heights, HEIGHT - BOTTOM, TOP, chart.log_y)
    lines = [_line(series, i, across, up) for i, series in enumerate(chart.series)]
    return Drawing(
        chart,
        _with_unit(chart.x_label, across),
        _with_unit(chart.y_label, up),
        across.ticks(),
        up.ticks(),
        lines,
        [(area.name, _path([(across.at(x), up.at(y)) for x, y in area.outline]), area.colour) for area in chart.areas],
        [(across.at(x), word) for x, word in chart.marks],
        _diagonal(across, up) if chart.diagonal else "",
        _stops(chart, across, up),
    )


def _line(series: Series, number: int, across: Scale, up: Scale) -> Line:
    pieces: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(series.x, series.y, strict=True):
        if _shown(x, across) and _shown(y, up):
            pieces[-1].append((across.at(x), up.at(y)))  # pyright: ignore[reportArgumentType]  # shown, so a number
        elif pieces[-1]:
            pieces.append([])
    places = [place for piece in pieces for place in piece]
    band = ""
    if series.low:
        upper = [(across.at(x), up.at(y)) for x, y in zip(series.x, series.high, strict=True) if _shown(y, up)]
        lower = [(across.at(x), up.at(y)) for x, y in zip(series.x, series.low, strict=True) if _shown(y, up)]
        band = _path([*upper, *reversed(lower)])
    paths = [] if series.points else [_path(piece) for piece in pieces if len(piece) > 1]
    dots = places if series.points else [piece[0] for piece in pieces if len(piece) == 1]
    return Line(series.name, _style(number), paths, dots, band)


def _with_unit(label: str, scale: Scale) -> str:
    return f"{label}, in {scale.unit}" if scale.unit else label


def _style(number: int) -> str:
    """A colour with dashes of its own; where colours begin anew, each has other dashes than before."""
    return f"s{number % STYLES} d{(number + number // STYLES) % STYLES}"


def _stops(chart: Chart, across: Scale, up: Scale) -> list[dict[str, Any]]:
    """Points by themselves; lines together at every x."""
    stops: list[dict[str, Any]] = []
    together: dict[float, list[str]] = defaultdict(list)
    for series in chart.series:
        for i, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
            if not (_shown(x, across) and _shown(y, up)):
                continue
            assert y is not None
            if series.points:
                said = series.labels[i] if series.labels else f"{chart.x_label} {_say(x)}, {chart.y_label} {_say(y)}"
                stops.append({"x": across.at(x), "y": up.at(y), "text": f"{series.name}: {said}"})
            else:
                together[x].append(f"{series.name} {_say(y)}")
    lines = [
        {"x": across.at(x), "text": f"{chart.x_label} {_say(x)}: {'; '.join(said)}"} for x, said in together.items()
    ]
    return sorted(stops + lines, key=lambda stop: stop["x"])


def _shown(value: float | None, scale: Scale) -> bool:
    return value is not None and math.isfinite(value) and (value > 0 or not scale.log)


def _diagonal(across: Scale, up: Scale) -> str:
    low, high = max(across.low, up.low), min(across.high, up.high)
    return _path([(across.at(v), up.at(v)) for v in (low, high)]) if low < high else ""


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def _say(value: float) -> str:
    return f"{value:.4g}"
