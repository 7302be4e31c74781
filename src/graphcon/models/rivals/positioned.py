from typing import Any, Literal

from torch import Tensor

from graphcon import couplings
from graphcon._validation import check_choice
from graphcon.couplings import cartesian_coordinates, polar_coordinates
from graphcon.models.card import rival
from graphcon.models.core import Activation, Edges
from graphcon.models.stack import Stack

_COORDINATES = {"cartesian": cartesian_coordinates, "polar": polar_coordinates}


class Positioned(Stack):
    r"""A stack of layers whose kernels live on pseudo-coordinates u of the edges.

    .. math::
        X_n = \sigma(F_n(X_{n-1}, u)), \qquad u_{ij} = \mathrm{coordinates}(p_j - p_i)

    made of the positions p of the nodes; where there are none, the layers take the degrees of an edge's ends. MoNet
    (`Monti et al., 2017 <https://arxiv.org/abs/1611.08402>`_) has Gaussians on them, SplineCNN (`Fey et al., 2018
    <https://arxiv.org/abs/1711.08920>`_) B-splines.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout after every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        coupling (str): The layer by name.
        coordinates (str, optional): :obj:`"cartesian"` or :obj:`"polar"`. (default: :obj:`"cartesian"`)
        kernel_size (int, optional): Gaussians, or grid points in a direction. (default: :obj:`None`, the layer's own)
        norm (str, optional): What normalises the output of a layer. (default: :obj:`"none"`)
        residual (bool, optional): Adds the state to what a layer makes of it. (default: :obj:`False`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    needs = ("pos", "batch")

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        coupling: str,
        coordinates: Literal["cartesian", "polar"] = "cartesian",
        kernel_size: int | None = None,
        norm: str = "none",
        residual: bool = False,
        memory: str = "auto",
    ):
        options = {} if kernel_size is None else {"kernel_size": kernel_size}
        layers = [couplings.build(coupling, channels, **options) for _ in range(num_layers)]
        super().__init__(layers, channels, num_layers, dropout, act, norm=norm, residual=residual, memory=memory)
        self.coordinates = _COORDINATES[check_choice("coordinates", coordinates, list(_COORDINATES))]
        self.takes -= {"edge_attr"}

    def prepare(
        self, x: Tensor, edge_index: Tensor, pos: Tensor | None = None, batch: Tensor | None = None, **kwargs: Any
    ) -> Edges:
        if pos is None:
            return Edges(edge_index, kwargs)
        if pos.size(-1) != 2:
            raise ValueError(f"pos has {pos.size(-1)} coordinates per node, but the kernels are made for 2")
        return Edges(edge_index, kwargs | {"edge_attr": self.coordinates(pos.to(x.dtype), edge_index, batch)})


CARDS = (
    rival(
        "monet",
        Positioned,
        "Gaussian kernels over positions, or over the degrees of both ends",
        "Monti et al. 2017, arXiv:1611.08402",
        coupling="monet",
    ),
    rival(
        "spline",
        Positioned,
        "B-spline kernels over positions, or over the degrees of both ends",
        "Fey et al. 2018, arXiv:1711.08920",
        coupling="spline",
    ),
)
