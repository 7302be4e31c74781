r"""Where in the plane of :math:`\alpha\Delta t` and :math:`\gamma\Delta t^2` the uncoupled step does what.

The step depends on dt, α and γ through these two products alone, so that the plane shows all there is.
"""

from typing import NamedTuple

#: The part of the plane that is drawn.
WIDTH, HEIGHT = 2.5, 4.5
_POINTS = 60


class Region(NamedTuple):
    """A part of the plane, drawn over those before it."""

    regime: str
    meaning: str
    outline: list[tuple[float, float]]


def regions(exact: bool = False) -> list[Region]:
    r"""The regimes of :mod:`graphcon.stability` as outlines.

    The paper's scheme is stable in the triangle :math:`\gamma\Delta t^2 < 4 - 2\alpha\Delta t` and oscillates between
    :math:`(1 - \sqrt{1 - \alpha\Delta t})^2` and :math:`(1 + \sqrt{1 - \alpha\Delta t})^2`. The exact flow is stable
    everywhere and oscillates above :math:`(\alpha\Delta t)^2 / 4`.

    Args:
        exact: Whether the integrator follows the exact flow of the uncoupled oscillator, as `strang` and `adaptive` do.
    """
    whole = [(0.0, 0.0), (WIDTH, 0.0), (WIDTH, HEIGHT), (0.0, HEIGHT)]
    if exact:
        curve = [(a, a * a / 4) for a in _grid(WIDTH)]
        return [
            Region("overdamped", "decays without oscillating", whole),
            Region("oscillating", "decays while it oscillates", [*curve, (WIDTH, HEIGHT), (0.0, HEIGHT)]),
        ]
    turn = [1.0 - s for s in _grid(2.0)]  # both curves in one: from (0, 0) around (1, 1) to (0, 4)
    triangle = [(0.0, 0.0), (2.0, 0.0), (0.0, 4.0)]
    return [
        Region("unstable", "grows without bound", whole),
        Region("overdamped", "decays, changing sign at every step where α·dt + γ·dt² > 2", triangle),
        Region("oscillating", "decays while it oscillates", [(1 - s * s, (1 - s) ** 2) for s in turn]),
    ]


class Spot(NamedTuple):
    """Where a model is marked, and whether that is where it is."""

    x: float
    y: float
    inside: bool


def on_map(damping: float, restoring: float) -> Spot:
    """The place of a model on the map; at the edge for one that lies beyond it."""
    x, y = min(damping, WIDTH), min(restoring, HEIGHT)
    return Spot(x, y, (x, y) == (damping, restoring))


def _grid(end: float) -> list[float]:
    return [end * i / _POINTS for i in range(_POINTS + 1)]
