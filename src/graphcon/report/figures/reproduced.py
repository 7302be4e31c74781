"""Figures of the reproduced tables: ours beside the paper's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from graphcon.report.figures._style import LINES, MARKERS, PALETTE, drawing, entitle
from graphcon.stability import analyse


class Bar(NamedTuple):
    """A mean with its spread over n runs, and the paper's figure where there is one."""

    mean: float
    sd: float
    n: int
    paper: float | None


def rows_figure(
    groups: Mapping[str, Mapping[str, Bar]], names: Sequence[str], path: Path, title: str, label: str
) -> None:
    """Draws a panel per data set and in all of them a line per row: our mean and spread, the paper's as a diamond.

    A single run, whose spread is not known, is hollow.

    Args:
        groups: The rows of every data set, by their names.
        names: All names, from top to bottom.
        path: Where the picture goes.
        title: What is shown.
        label: Name and unit of the values.
    """
    width = 0.5 + 0.085 * max(map(len, names)) + max(2.5 * len(groups), 4.5)
    bars = [bar for rows in groups.values() for bar in rows.values()]
    far = min(bar.mean for bar in bars) < 50  # shares that go so low are shown from none to all
    with drawing(path, width, 1.6 + 0.32 * len(names)) as figure:
        panels: Sequence[Axes] = figure.subplots(1, len(groups), squeeze=False, sharey=True)[0]
        for axes, (dataset, rows) in zip(panels, groups.items(), strict=True):
            for name, bar in rows.items():
                place = names.index(name)
                inside = PALETTE[0] if bar.n > 1 else "white"
                spread = bar.sd if bar.n > 1 else None
                axes.errorbar(bar.mean, place, xerr=spread, fmt="o", color=PALETTE[0], mfc=inside, capsize=3)
                if bar.paper is not None:
                    axes.plot(bar.paper, place, "D", color=PALETTE[1], markerfacecolor="none")
            axes.set_yticks(range(len(names)), names)
            axes.set_ylim(len(names) - 0.4, -0.6)
            axes.set_title(dataset, fontsize=11)
            axes.set_xlabel(label)
            if "%" in label:
                low, high = axes.get_xlim()
                axes.set_xlim(0 if far else low, min(high, 101))
        if any(bar.n > 1 for bar in bars):
            panels[0].plot([], [], "o", color=PALETTE[0], label="ours, mean ± sd")
        if any(bar.n == 1 for bar in bars):
            panels[0].plot([], [], "o", color=PALETTE[0], markerfacecolor="white", label="ours, a single run")
        if any(bar.paper is not None for bar in bars):
            panels[0].plot([], [], "D", color=PALETTE[1], markerfacecolor="none", label="the paper's")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        entitle(figure, title)


def lines_figure(
    curves: Mapping[str, Sequence[tuple[int, Bar]]], path: Path, title: str, label: str, axis: str = "layers"
) -> None:
    """Draws a curve per row against the depth, with the spread as a band and the paper's figures as diamonds.

    A model has a colour, its variants have line styles and markers.

    Args:
        curves: For every row the depths and what was measured there.
        path: Where the picture goes.
        title: What is shown.
        label: Name and unit of the values.
        axis: Name of what grows.
    """
    models: dict[str, list[str]] = {}
    for name in curves:
        models.setdefault(name.partition(" (")[0], []).append(name)
    looks = [marker + line for line, marker in zip(LINES, MARKERS.replace("D", ""), strict=False)]
    with drawing(path, 8.4, 4.6) as figure:
        axes: Axes = figure.subplots()
        for colour, rows in zip(PALETTE, models.values(), strict=False):
            for look, name in zip(looks, rows, strict=False):
                _curve(axes, curves[name], name, colour, look)
        axes.set_xscale("log", base=2)
        every = sorted({depth for points in curves.values() for depth, _ in points})
        axes.set_xticks(every, [str(depth) for depth in every])
        axes.minorticks_off()
        axes.set_xlabel(axis)
        axes.set_ylabel(label)
        entitle(figure, title)
        several = any(bar.n > 1 for points in curves.values() for _, bar in points)
        figure.legend(loc="outside right center", title="band: ± sd" if several else None)


def _curve(axes: Axes, points: Sequence[tuple[int, Bar]], name: str, colour: str, look: str) -> None:
    depths = [depth for depth, _ in points]
    means, sds = (np.array(values) for values in zip(*((bar.mean, bar.sd) for _, bar in points), strict=True))
    axes.plot(depths, means, look, color=colour, linewidth=2, label=name)
    axes.fill_between(depths, means - sds, means + sds, color=colour, alpha=0.15, linewidth=0)
    printed = [(depth, bar.paper) for depth, bar in points if bar.paper is not None]
    if printed:
        told = f"{name}, the paper's"
        axes.plot(*zip(*printed, strict=True), "D", color=colour, markerfacecolor="none", markersize=8, label=told)


def map_figure(cells: Mapping[tuple[float, float], float], dt: float, path: Path, title: str, label: str) -> None:
    r"""Draws a metric over alpha and gamma as a heat map, with the border of stability of the uncoupled step.

    Args:
        cells: The metric at every pair of alpha and gamma; NaN where all trainings diverged.
        dt: The time step, for the border :math:`\gamma\Delta t^2 = 4 - 2\alpha\Delta t`.
        path: Where the picture goes.
        title: What is shown.
        label: Name and unit of the metric.
    """
    alphas, gammas = sorted({alpha for alpha, _ in cells}), sorted({gamma for _, gamma in cells})
    values = np.array([[cells.get((alpha, gamma), np.nan) for alpha in alphas] for gamma in gammas])
    stable = [[analyse(dt, alpha, gamma).regime != "unstable" for alpha in alphas] for gamma in gammas]
    with drawing(path, 6.6, 4.8) as figure:
        axes: Axes = figure.subplots()
        image = axes.pcolormesh(np.ma.masked_invalid(values), cmap="viridis", edgecolors="white", linewidth=0.5)
        figure.colorbar(image, ax=axes, label=label)
        middle = (np.nanmin(values) + np.nanmax(values)) / 2
        for row in range(len(gammas)):
            for column in range(len(alphas)):
                value = values[row, column]
                told = "–" if np.isnan(value) else f"{value:.0f}"
                colour = "white" if not np.isnan(value) and value < middle else "black"
                axes.text(column + 0.5, row + 0.5, told, ha="center", va="center", color=colour)
                if not stable[row][column]:
                    corner = [(column + 1, row + 1), (column + 0.75, row + 1), (column + 1, row + 0.75)]
                    axes.fill(*zip(*corner, strict=True), color=PALETTE[1])
                if column and stable[row][column] != stable[row][column - 1]:
                    axes.plot([column, column], [row, row + 1], color=PALETTE[1], linewidth=4)
                if row and stable[row][column] != stable[row - 1][column]:
                    axes.plot([column, column + 1], [row, row], color=PALETTE[1], linewidth=4)
        told = f"border of stability of the uncoupled step of {dt:g}; marked: unstable"
        axes.plot([], [], "-", color=PALETTE[1], linewidth=4, label=told)
        axes.set_xticks(np.arange(len(alphas)) + 0.5, [f"{alpha:g}" for alpha in alphas])
        axes.set_yticks(np.arange(len(gammas)) + 0.5, [f"{gamma:g}" for gamma in gammas])
        axes.set(xlabel="damping α", ylabel="squared frequency γ")
        entitle(figure, title)
        axes.grid(False)
        figure.legend(loc="outside lower left")
