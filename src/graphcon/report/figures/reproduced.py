"""Figures of the reproduced tables: ours beside the paper's."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from graphcon.report.figures._style import PALETTE, drawing

_LETTERS_PER_INCH = 9  # of a title


class Bar(NamedTuple):
    """A mean with its spread, and the paper's figure where there is one."""

    mean: float
    sd: float
    paper: float | None


def rows_figure(
    groups: Mapping[str, Mapping[str, Bar]], names: Sequence[str], path: Path, title: str, label: str
) -> None:
    """Draws a panel per data set and in all of them a line per row: our mean and spread, the paper's as a diamond.

    Args:
        groups: The rows of every data set, by their names.
        names: All names, from top to bottom.
        path: Where the picture goes.
        title: What is shown.
        label: Name and unit of the values.
    """
    width = 0.5 + 0.085 * max(map(len, names)) + 2.5 * len(groups)
    with drawing(path, width, 1.6 + 0.32 * len(names)) as figure:
        panels: Sequence[Axes] = figure.subplots(1, len(groups), squeeze=False, sharey=True)[0]
        for axes, (dataset, rows) in zip(panels, groups.items(), strict=True):
            for name, bar in rows.items():
                place = names.index(name)
                axes.errorbar(bar.mean, place, xerr=bar.sd, fmt="o", color=PALETTE[0], capsize=3)
                if bar.paper is not None:
                    axes.plot(bar.paper, place, "D", color=PALETTE[1], markerfacecolor="none")
            axes.set_yticks(range(len(names)), names)
            axes.set_ylim(len(names) - 0.4, -0.6)
            axes.set_title(dataset, fontsize=11)
            axes.set_xlabel(label)
        panels[0].plot([], [], "o", color=PALETTE[0], label="ours, mean ± sd")
        if any(bar.paper is not None for rows in groups.values() for bar in rows.values()):
            panels[0].plot([], [], "D", color=PALETTE[1], markerfacecolor="none", label="the paper's")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        figure.suptitle(textwrap.fill(title, int(_LETTERS_PER_INCH * width)), x=0.01, ha="left")


def lines_figure(
    curves: Mapping[str, Sequence[tuple[int, Bar]]], path: Path, title: str, label: str, axis: str = "layers"
) -> None:
    """Draws a curve per row against the depth, with the spread as a band and the paper's figures dashed.

    Args:
        curves: For every row the depths and what was measured there.
        path: Where the picture goes.
        title: What is shown.
        label: Name and unit of the values.
        axis: Name of what grows.
    """
    with drawing(path, 8.4, 4.6) as figure:
        axes: Axes = figure.subplots()
        for colour, (name, points) in zip(PALETTE, curves.items(), strict=False):
            depths = [depth for depth, _ in points]
            means, sds = [bar.mean for _, bar in points], [bar.sd for _, bar in points]
            axes.plot(depths, means, "o-", color=colour, linewidth=2, label=name)
            low = [mean - sd for mean, sd in zip(means, sds, strict=True)]
            high = [mean + sd for mean, sd in zip(means, sds, strict=True)]
            axes.fill_between(depths, low, high, color=colour, alpha=0.15, linewidth=0)
            printed = [(depth, bar.paper) for depth, bar in points if bar.paper is not None]
            if printed:
                axes.plot(
                    *zip(*printed, strict=True), "D--", color=colour, markerfacecolor="none", label=f"{name}, paper"
                )
        axes.set_xscale("log", base=2)
        every = sorted({depth for points in curves.values() for depth, _ in points})
        axes.set_xticks(every, [str(depth) for depth in every])
        axes.minorticks_off()
        axes.set_xlabel(axis)
        axes.set_ylabel(label)
        axes.set_title(title)
        figure.legend(loc="outside right upper")


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
    with drawing(path, 6.6, 4.8) as figure:
        axes: Axes = figure.subplots()
        image = axes.pcolormesh(np.ma.masked_invalid(values), cmap="viridis", edgecolors="white", linewidth=0.5)
        figure.colorbar(image, ax=axes, label=label)
        middle = (np.nanmin(values) + np.nanmax(values)) / 2
        for row, gamma in enumerate(gammas):
            for column, alpha in enumerate(alphas):
                value = values[row, column]
                stable = 0 <= alpha * dt < 2 and gamma * dt**2 < 4 - 2 * alpha * dt and (gamma > 0 or alpha > 0)
                told = "–" if np.isnan(value) else f"{value:.0f}"
                colour = "white" if not np.isnan(value) and value < middle else "black"
                axes.text(column + 0.5, row + 0.5, told, ha="center", va="center", color=colour)
                if not stable:
                    corner = [(column + 1, row + 1), (column + 0.65, row + 1), (column + 1, row + 0.65)]
                    axes.fill(*zip(*corner, strict=True), color=PALETTE[1])
        axes.plot([], [], "s", color=PALETTE[1], label=f"uncoupled step unstable at dt = {dt:g}")
        axes.set_xticks(np.arange(len(alphas)) + 0.5, [f"{alpha:g}" for alpha in alphas])
        axes.set_yticks(np.arange(len(gammas)) + 0.5, [f"{gamma:g}" for gamma in gammas])
        axes.set(xlabel="damping α", ylabel="squared frequency γ", title=title)
        axes.grid(False)
        figure.legend(loc="outside lower left")
