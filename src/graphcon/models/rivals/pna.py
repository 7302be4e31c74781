from typing import Any, cast

import torch
from torch import Tensor
from torch_geometric.nn.aggr import DegreeScalerAggregation
from torch_geometric.nn.conv import PNAConv
from torch_geometric.utils import degree

from graphcon.models.card import rival
from graphcon.models.core import Activation, Edges
from graphcon.models.stack import Stack


class PNA(Stack):
    r"""Principal neighbourhood aggregation (`Corso et al., 2020 <https://arxiv.org/abs/2004.05718>`_).

    .. math::
        X_n = \sigma\Big(\mathrm{norm}\Big(U_n\Big(X_i,\; S(d_i, \delta) \otimes
        \operatorname*{(mean, min, max, std)}_{j \in \mathcal{N}_i} M_n(X_i, X_j)\Big)\Big)\Big), \qquad
        S(d) = \Big(1, \frac{\log(d + 1)}{\delta}, \frac{\delta}{\log(d + 1)}\Big)

    :math:`\delta`, the mean of :math:`\log(d + 1)`, is that of the first graphs that the network sees, and is kept
    with its weights.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout after every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        aggregators (tuple, optional): Names of PyG's aggregations. (default: :obj:`("mean", "min", "max", "std")`)
        scalers (tuple, optional): Names of its scalers. (default: :obj:`("identity", "amplification",
            "attenuation")`)
        towers (int, optional): Layers side by side, each on its share of the channels. (default: :obj:`1`)
        norm (str, optional): What normalises the output of a layer. (default: :obj:`"batch"`)
        residual (bool, optional): Adds the state to what a layer makes of it. (default: :obj:`True`)
        edge_dim (int, optional): Width of the edge features. (default: :obj:`None`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        aggregators: tuple[str, ...] = ("mean", "min", "max", "std"),
        scalers: tuple[str, ...] = ("identity", "amplification", "attenuation"),
        towers: int = 1,
        norm: str = "batch",
        residual: bool = True,
        edge_dim: int | None = None,
        memory: str = "auto",
    ):
        if channels % towers:
            raise ValueError(f"towers={towers} does not divide the {channels} channels they share")
        unseen = torch.tensor([0, 1])  # replaced by `adapt`
        layers = [
            PNAConv(
                channels,
                channels,
                list(aggregators),
                list(scalers),
                unseen,
                edge_dim,
                towers,
                divide_input=towers > 1,
            )
            for _ in range(num_layers)
        ]
        super().__init__(layers, channels, num_layers, dropout, act, norm=norm, residual=residual, memory=memory)
        self.register_buffer("seen", torch.tensor(False))
        self.seen: Tensor
        if edge_dim is None:
            self.takes -= {"edge_attr"}

    def prepare(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Edges:
        if not torch.compiler.is_compiling() and not self.seen:
            self.adapt(degree(edge_index[1], x.size(0)))
        return super().prepare(x, edge_index, **kwargs)

    @torch.no_grad()
    def adapt(self, degrees: Tensor) -> None:
        r"""Takes :math:`\delta` from the degrees of some nodes; without any edge it stays that of degree 1."""
        self.seen.fill_(True)
        if degrees.any():
            for layer in self.layers:
                scale = cast(DegreeScalerAggregation, cast(PNAConv, layer).aggr_module)
                scale.avg_deg_lin.fill_(degrees.mean())
                scale.avg_deg_log.fill_((degrees + 1).log().mean())


CARDS = (
    rival(
        "pna",
        PNA,
        "several aggregations side by side, scaled by the degree",
        "Corso et al. 2020, arXiv:2004.05718",
    ),
)
