"""Deep graph networks of coupled oscillators, around any PyTorch Geometric layer."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphcon import couplings as couplings
    from graphcon import data as data
    from graphcon import diagnostics as diagnostics
    from graphcon import integrators as integrators
    from graphcon import kernels as kernels
    from graphcon import memory as memory
    from graphcon import models as models
    from graphcon import stability as stability
    from graphcon.conformance import CouplingReport, check_coupling
    from graphcon.divergence import DivergenceError, detect_divergence
    from graphcon.errors import InputError
    from graphcon.oscillator import GraphCON
    from graphcon.stability import DegenerateDynamicsWarning, UnstableDynamicsWarning
    from graphcon.training.fit import evaluate, fit
    from graphcon.training.run import load

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
    "evaluate",
    "fit",
    "load",
]

# Names are fetched when they are asked for: `graphcon --help` need not wait for PyTorch.
_HOME = {
    "CouplingReport": "conformance",
    "DegenerateDynamicsWarning": "stability",
    "DivergenceError": "divergence",
    "GraphCON": "oscillator",
    "InputError": "errors",
    "UnstableDynamicsWarning": "stability",
    "check_coupling": "conformance",
    "detect_divergence": "divergence",
    "evaluate": "training.fit",
    "fit": "training.fit",
    "load": "training.run",
}
_ROOMS = ("couplings", "data", "diagnostics", "integrators", "kernels", "memory", "models", "stability")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"graphcon.{_HOME[name]}"), name)
    if name in _ROOMS:
        return import_module(f"graphcon.{name}")
    raise AttributeError(f"module 'graphcon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_ROOMS]
