"""Figures of what was measured."""

from graphcon.report.figures import depth_figure, energy_figure

__all__ = ["depth_figure", "energy_figure"]
