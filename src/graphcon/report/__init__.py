"""Figures of what was measured, and the page of a run."""

from graphcon.report.figures import (
    Band,
    Sensitivity,
    depth_figure,
    energy_figure,
    molecule_animation,
    molecule_figure,
    sensitivity_figure,
    stability_map,
    states_figure,
)

__all__ = [
    "Band",
    "Sensitivity",
    "depth_figure",
    "energy_figure",
    "molecule_animation",
    "molecule_figure",
    "sensitivity_figure",
    "stability_map",
    "states_figure",
]
