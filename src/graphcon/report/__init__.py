"""Figures of what was measured."""

from graphcon.report.figures import energy_figure

__all__ = ["energy_figure"]
