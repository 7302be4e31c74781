"""Figures of what was measured."""

from graphcon.report.figures.comparison import Panel, comparison_figure
from graphcon.report.figures.curves import Band, Sensitivity, depth_figure, energy_figure, sensitivity_figure
from graphcon.report.figures.molecule import molecule_animation, molecule_figure
from graphcon.report.figures.reproduced import Bar, lines_figure, map_figure, rows_figure
from graphcon.report.figures.stability import stability_map
from graphcon.report.figures.states import states_figure

__all__ = [
    "Band",
    "Bar",
    "Panel",
    "Sensitivity",
    "comparison_figure",
    "depth_figure",
    "energy_figure",
    "lines_figure",
    "map_figure",
    "molecule_animation",
    "molecule_figure",
    "rows_figure",
    "sensitivity_figure",
    "stability_map",
    "states_figure",
]
