"""Couplings PyG does not have, and every coupling by its name."""

from graphcon.couplings._by_name import COUPLINGS, REQUIRED, build, options
from graphcon.couplings._coordinates import COORDINATES, cartesian_coordinates, polar_coordinates
from graphcon.couplings.attention import DotProductConv
from graphcon.couplings.gated_gcn import GatedGCNConv
from graphcon.couplings.identity import IdentityMap
from graphcon.couplings.monet import MoNetConv
from graphcon.couplings.pointwise import PointwiseConv
from graphcon.couplings.residual import Residual
from graphcon.couplings.spline import SplineConv
from graphcon.couplings.wave import start_as_wave

__all__ = [
    "COORDINATES",
    "COUPLINGS",
    "REQUIRED",
    "DotProductConv",
    "GatedGCNConv",
    "IdentityMap",
    "MoNetConv",
    "PointwiseConv",
    "Residual",
    "SplineConv",
    "build",
    "cartesian_coordinates",
    "options",
    "polar_coordinates",
    "start_as_wave",
]
