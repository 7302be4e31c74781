"""The columns of a table of states that are shown, with the words beside them."""

from typing import NamedTuple


class Measure(NamedTuple):
    """A column of :func:`graphcon.diagnostics.trajectory_table`.

    Attributes:
        column: Its name.
        title: What it is.
        axis: The vertical axis, with its unit.
        logarithmic: Whether that is.
        reading: How to read it.
    """

    column: str
    title: str
    axis: str
    logarithmic: bool
    reading: str


MEASURES = (
    Measure(
        "energy",
        "Dirichlet energy",
        "energy",
        True,
        "How different neighbours are. It also falls when the state merely shrinks.",
    ),
    Measure(
        "energy_relative",
        "Relative energy",
        "energy / size²",
        True,
        "The same for states of one size: zero where attention ends up.",
    ),
    Measure(
        "energy_relative_by_degree",
        "Relative energy by degree",
        "energy / size²",
        True,
        "The same after division by the root of the degree: zero where a deep GCN ends up.",
    ),
    Measure(
        "mad",
        "Mean average distance",
        "1 − cosine",
        True,
        "How far the directions of neighbours are apart, whatever their size.",
    ),
    Measure(
        "effective_rank",
        "Effective rank",
        "directions",
        False,
        "How many directions the nodes fill; 1 is a collapse.",
    ),
    Measure("rank", "Numerical rank", "directions", False, "How many directions are above rounding."),
    Measure(
        "state_gradient",
        "Gradient of the state",
        "norm",
        True,
        "How much of the loss's gradient reaches a step. If it falls to the left, it vanishes.",
    ),
    Measure(
        "weight_gradient",
        "Gradient of the weights",
        "norm",
        True,
        "How much the weights are told to change by a step.",
    ),
)
