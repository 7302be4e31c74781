"""The figure of `graphcon compare`: every measure against depth, a line per model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes

from graphcon.report.figures._style import LINES, MARKERS, PALETTE, drawing


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
    with drawing(path, 11.0, 6.4) as figure:
        places: list[Axes] = list(figure.subplots(2, 3).flat)
        for axes, panel in zip(places, panels, strict=False):
            for n, (model, values) in enumerate(panel.curves.items()):
                means, spreads = zip(*values, strict=True)
                colour, line = PALETTE[n % len(PALETTE)], LINES[n // len(PALETTE) % len(LINES)]
                marker, bars = MARKERS[n % len(MARKERS)], None if panel.log else spreads
                axes.errorbar(depths, means, bars, fmt=f"{line}{marker}", color=colour, capsize=3, label=model)
            axes.set_xscale("log", base=2)
            if panel.log:
                axes.set_yscale("log")
            else:
                axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
            axes.set_xticks(depths, [str(depth) for depth in depths])
            axes.set_xticks([], minor=True)
            axes.set(xlabel="layers", title=panel.title)
        for axes in places[len(panels) :]:
            axes.set_axis_off()
        places[-1].legend(*places[0].get_legend_handles_labels(), loc="center left")
        figure.suptitle(title, x=0.01, ha="left")
