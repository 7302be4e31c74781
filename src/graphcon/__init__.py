"""Deep graph networks of coupled oscillators, around any PyTorch Geometric layer."""

from importlib.metadata import version

from graphcon.conformance import CouplingReport, check_coupling
from graphcon.divergence import DivergenceError, detect_divergence
from graphcon.errors import InputError
from graphcon.oscillator import GraphCON
from graphcon.stability import DegenerateDynamicsWarning, UnstableDynamicsWarning

__version__ = version("graphcon")

__all__ = [
    "CouplingReport",
    "DegenerateDynamicsWarning",
    "DivergenceError",
    "GraphCON",
    "InputError",
    "UnstableDynamicsWarning",
    "__version__",
    "check_coupling",
    "detect_divergence",
]
