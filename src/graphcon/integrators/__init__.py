"""Time-stepping schemes for X'' = force(X) - gamma X - alpha X', and for X' = slope(X)."""

from graphcon.integrators._base import Integrator
from graphcon.integrators.adaptive import Adaptive
from graphcon.integrators.first_order import RK4, SCHEMES, Dopri5, Euler, Scheme
from graphcon.integrators.imex import IMEX
from graphcon.integrators.strang import Strang, oscillator_flow

INTEGRATORS: dict[str, type[Integrator]] = {cls.name: cls for cls in (IMEX, Strang, Adaptive)}

__all__ = [
    "IMEX",
    "INTEGRATORS",
    "RK4",
    "SCHEMES",
    "Adaptive",
    "Dopri5",
    "Euler",
    "Integrator",
    "Scheme",
    "Strang",
    "oscillator_flow",
]
