"""What the measures of `graphcon.diagnostics` say, step by step and at growing depth."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from graphcon.report.figures._style import LINES, MARKERS, PALETTE, drawing, entitle
from graphcon.report.measures import MEASURES, Measure

COLUMNS = 4


def states_figure(tables: Mapping[str, pl.DataFrame], path: Path, title: str, against: str = "step") -> None:
    """Draws every measure in a panel of its own, a line a model.

    Args:
        tables: A table of states (see :func:`graphcon.diagnostics.trajectory_table`) by the model's name.
        path: Where the picture goes; its ending tells the format.
        title: What is shown.
        against: The column on the horizontal axis: ``step``, or ``depth`` (which is drawn logarithmically).
    """
    shown = [m for m in MEASURES if all(m.column in table.columns for table in tables.values())]
    rows = -(-len(shown) // COLUMNS)
    with drawing(path, 3.6 * COLUMNS, 3.1 * rows + 0.6) as figure:
        grid = figure.subplots(rows, COLUMNS, squeeze=False).flatten()
        for axes, measure in zip(grid, shown, strict=False):
            _panel(axes, tables, measure, against)
        for axes in grid[len(shown) :]:
            axes.set_visible(False)
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6))
        entitle(figure, title)


def _panel(axes: Axes, tables: Mapping[str, pl.DataFrame], measure: Measure, against: str) -> None:
    name, logarithmic = measure.column, measure.logarithmic
    for i, (model, table) in enumerate(tables.items()):
        rows = table.filter(pl.col(name).is_finite() & ((pl.col(name) > 0) | (not logarithmic)))
        # Zero has no place on a logarithmic axis, and a curve that got there ends.
        line = LINES[(i // len(PALETTE)) % len(LINES)]
        style = line if against == "step" else MARKERS[i % len(MARKERS)] + line
        axes.plot(rows[against], rows[name], style, color=PALETTE[i % len(PALETTE)], linewidth=1.8, label=model)
    if logarithmic:
        axes.set_yscale("log")
    if against == "depth":
        axes.set_xscale("log", base=2)
        depths = sorted({depth for table in tables.values() for depth in table["depth"]})
        axes.set_xticks(depths, [str(depth) for depth in depths])
    axes.set(xlabel="layers" if against == "depth" else "step", ylabel=measure.axis, title=measure.title)
