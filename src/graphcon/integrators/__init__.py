"""Time-stepping schemes for X'' = force(X) - gamma X - alpha X'."""

from graphcon.integrators._base import Integrator
from graphcon.integrators.adaptive import Adaptive
from graphcon.integrators.imex import IMEX
from graphcon.integrators.strang import Strang, oscillator_flow

INTEGRATORS: dict[str, type[Integrator]] = {cls.name: cls for cls in (IMEX, Strang, Adaptive)}

__all__ = ["IMEX", "INTEGRATORS", "Adaptive", "Integrator", "Strang", "oscillator_flow"]
