"""The figure of `graphcon compare`: every measure against depth, a line per model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from graphcon.report.figures import LINES, PALETTE, STYLE


class Panel(NamedTuple):
    """One measure of all models: the mean over seeds at every depth, and how far they spread."""

    title: str
    log: bool
    curves: Mapping[str, Sequence[tuple[float, float]]]  # (mean, sd) per depth, by model


def comparison_figure(depths: Sequence[int], panels: Sequence[Panel], path: Path, title: str) -> None:
    """Draws the panels side by side, two rows of three, with the legend in the last place.

    Args:
        depths: The numbers of layers.
        panels: What is drawn, five at the most.
        path: Where the picture goes; its ending tells the format.
        title: What is shown.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 6.4), layout="constrained")
        places: list[Axes] = list(figure.subplots(2, 3).flat)
        for axes, panel in zip(places, panels, strict=False):
            for n, values in enumerate(panel.curves.values()):
                means, spreads = zip(*values, strict=True)
                style = {"color": PALETTE[n % len(PALETTE)], "linestyle": LINES[n // len(PALETTE) % len(LINES)]}
                axes.errorbar(
                    depths, means, None if panel.log else spreads, marker="o", markersize=5, capsize=3, **style
                )
            axes.set_xscale("log", base=2)
            if panel.log:
                axes.set_yscale("log")
            axes.set_xticks(depths, [str(depth) for depth in depths])
            axes.minorticks_off()
            axes.set(xlabel="layers", title=panel.title)
        for axes in places[len(panels) :]:
            axes.set_axis_off()
        lines = [part.lines[0] for part in places[0].containers]  # pyright: ignore[reportAttributeAccessIssue]
        places[-1].legend(lines, list(panels[0].curves), loc="center left")
        figure.suptitle(title, x=0.01, ha="left")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=140)
