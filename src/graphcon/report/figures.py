"""Figures, drawn without a screen and without touching a user's own matplotlib settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Colours that people with any kind of colour vision can tell apart (Okabe and Ito).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", ":")

_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "font.size": 11,
    "grid.color": "#e0e0e0",
    "legend.frameon": False,
    "svg.fonttype": "none",
}


def energy_figure(curves: Mapping[str, Mapping[str, Sequence[float]]], path: Path, title: str) -> None:
    """Draws Dirichlet energies against the layer, both logarithmic: a colour a group, a line style a member.

    Args:
        curves: The energies after every layer, by group (the coupling) and member (plain or as an oscillator).
        path: Where the picture goes; its ending tells the format.
        title: What is shown.
    """
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8.4, 4.6), layout="constrained")
        axes: Axes = figure.subplots()
        for colour, group in zip(PALETTE, curves.values(), strict=False):
            for line, (name, energy) in zip(LINES, group.items(), strict=False):
                axes.loglog(range(1, len(energy) + 1), energy, line, color=colour, linewidth=2, label=name)
        axes.set(xlabel="layer n", ylabel="Dirichlet energy of Xⁿ", title=title)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=160)


def depth_figure(depths: Sequence[int], curves: Mapping[str, Sequence[float]], path: Path, title: str) -> None:
    """Draws accuracies against the number of layers.

    Args:
        depths: The numbers of layers.
        curves: The accuracy at each of them, by network, between 0 and 1.
        path: Where the picture goes; its ending tells the format.
        title: What is shown.
    """
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes: Axes = figure.subplots()
        for colour, marker, (name, values) in zip(PALETTE, "osD^", curves.items(), strict=False):
            axes.plot(depths, [100 * v for v in values], color=colour, marker=marker, linewidth=2, label=name)
        axes.set_xscale("log", base=2)
        axes.set_xticks(depths, [str(depth) for depth in depths])
        axes.set(xlabel="layers", ylabel="accuracy in %", title=title, ylim=(0, 100))
        axes.legend(loc="lower left")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=160)
