"""Curves against depth, and against a coefficient."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes

from graphcon.report.figures._style import LINES, MARKERS, PALETTE, drawing, entitle


class Band(NamedTuple):
    """Values against the layer over many draws: the median, and what most lie between."""

    low: Sequence[float]
    median: Sequence[float]
    high: Sequence[float]


def energy_figure(curves: Mapping[str, Mapping[str, Band]], path: Path, title: str) -> None:
    """Draws Dirichlet energies against the layer, both logarithmic: a colour a group, a line style a member.

    Args:
        curves: The energies after every layer, by group (the coupling) and member (plain or as an oscillator).
        path: Where the picture goes; its ending tells the format.
        title: What is shown.
    """
    with drawing(path, 8.4, 4.6) as figure:
        axes: Axes = figure.subplots()
        for colour, group in zip(PALETTE, curves.values(), strict=False):
            for line, (name, band) in zip(LINES, group.items(), strict=False):
                layers = range(1, len(band.median) + 1)
                axes.fill_between(layers, band.low, band.high, color=colour, alpha=0.12, linewidth=0)
                axes.loglog(layers, band.median, line, color=colour, linewidth=2, label=name)
        axes.set(xlabel="layer n", ylabel="Dirichlet energy of Xⁿ", title=title)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def depth_figure(depths: Sequence[int], curves: Mapping[str, Sequence[float]], path: Path, title: str) -> None:
    """Draws accuracies against the number of layers.

    Args:
        depths: The numbers of layers.
        curves: The accuracy at each of them, by network, between 0 and 1.
        path: Where the picture goes; its ending tells the format.
        title: What is shown.
    """
    with drawing(path, 6.4, 4.2) as figure:
        axes: Axes = figure.subplots()
        for colour, marker, (name, values) in zip(PALETTE, MARKERS, curves.items(), strict=False):
            axes.plot(depths, [100 * v for v in values], color=colour, marker=marker, linewidth=2, label=name)
        axes.set_xscale("log", base=2)
        axes.set_xticks(depths, [str(depth) for depth in depths])
        axes.set(xlabel="layers", ylabel="accuracy in %", title=title, ylim=(0, 100))
        axes.legend(loc="lower left")


class Sensitivity(NamedTuple):
    """A metric at every value of one coefficient, all else fixed.

    Attributes:
        coefficient: Which one, as the axis is labelled: ``α`` or ``γ``.
        fixed: What is held fixed, in words.
        values: The values of the coefficient.
        mean: The mean of the metric over the runs at each.
        spread: Its standard deviation over the runs at each.
        network: Whose metric it is, where there are several.
    """

    coefficient: str
    fixed: str
    values: Sequence[float]
    mean: Sequence[float]
    spread: Sequence[float]
    network: str = ""


def sensitivity_figure(
    curves: Sequence[Sensitivity], path: Path, title: str, metric: str = "test accuracy in %"
) -> None:
    """Draws how a metric depends on coefficients: a panel each, with the mean and a band of one standard deviation.

    Args:
        curves: A coefficient and a network each; the paper has α at a fixed γ, and γ at a fixed α.
        path: Where the picture goes; its ending tells the format.
        title: What is shown.
        metric: What the vertical axis is, with its unit.
    """
    shown = list(dict.fromkeys((curve.coefficient, curve.fixed) for curve in curves))
    looks = dict(
        zip(dict.fromkeys(curve.network for curve in curves), zip(PALETTE, MARKERS, strict=False), strict=False)
    )
    with drawing(path, 4.6 * len(shown), 3.8 if len(looks) == 1 else 4.2) as figure:
        panels = dict(zip(shown, figure.subplots(1, len(shown), sharey=True, squeeze=False)[0], strict=True))
        for curve in curves:
            axes, (colour, marker) = panels[curve.coefficient, curve.fixed], looks[curve.network]
            low = [m - s for m, s in zip(curve.mean, curve.spread, strict=True)]
            high = [m + s for m, s in zip(curve.mean, curve.spread, strict=True)]
            axes.fill_between(curve.values, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(curve.values, curve.mean, color=colour, marker=marker, linewidth=2, label=curve.network)
            axes.set(xlabel=curve.coefficient, title=curve.fixed)
        panels[shown[0]].set_ylabel(metric)
        if len(looks) > 1:
            figure.legend(*panels[shown[0]].get_legend_handles_labels(), loc="outside lower center", ncols=len(looks))
        entitle(figure, title)
