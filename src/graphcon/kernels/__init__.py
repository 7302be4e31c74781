"""Fused kernels behind the layers people already use.

Known layers run on them without being asked; everything else takes the layer's own path, with equal results.
"""

from graphcon.kernels._runtime import disabled, enabled, pays
from graphcon.kernels.coupling import Coupling
from graphcon.kernels.dispatch import bind, call, untouched
from graphcon.kernels.features import linear as sparse_linear
from graphcon.kernels.fuse import fuse
from graphcon.kernels.workspace import free_memory

__all__ = [
    "Coupling",
    "bind",
    "call",
    "disabled",
    "enabled",
    "free_memory",
    "fuse",
    "pays",
    "sparse_linear",
    "untouched",
]
