"""Figures of what was measured, and the page of a run."""

from graphcon.report.figures import (
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
    "Sensitivity",
    "depth_figure",
    "energy_figure",
    "molecule_animation",
    "molecule_figure",
    "sensitivity_figure",
    "stability_map",
    "states_figure",
]
