from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import Dropout, ModuleList
from torch_geometric.nn import GCNConv, inits

from graphcon._activations import resolve_act
from graphcon.models.card import rival
from graphcon.models.flow import Dynamics, Flow, Slope, time_step


class GDE(Dynamics):
    r"""A GCN as the right-hand side, `"Graph Neural Ordinary Differential Equations" <https://arxiv.org/abs/1911.07532>`_.

    .. math::
        X' = F_k(\sigma(F_{k-1}(\ldots \sigma(F_1(X)))))

    with graph convolutions F, dropout before each. The authors let a GCN layer encode and another decode; here both are
    the linear maps that every network has.

    Args:
        channels (int): Size of the state.
        layers (int, optional): The number k of convolutions. (default: :obj:`2`)
        act (str or Callable, optional): The activation between them. (default: :obj:`"softplus"`)
        dropout (float, optional): Dropout before each. (default: :obj:`0.0`)
    """

    def __init__(
        self,
        channels: int,
        layers: int = 2,
        act: str | Callable[[Tensor], Tensor] | None = "softplus",
        dropout: float = 0.0,
    ):
        super().__init__()
        self.convs = ModuleList(GCNConv(channels, channels) for _ in range(layers))
        self.act, self.dropout = resolve_act(act), Dropout(dropout)

    def reset_parameters(self) -> None:
        inits.reset(self.convs)

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Slope:
        """Binds the graph."""

        def slope(x: Tensor) -> Tensor:
            for n, conv in enumerate(self.convs):
                x = conv(self.dropout(self.act(x) if n else x), edge_index, edge_weight)
            return x

        return slope

    def __repr__(self) -> str:
        return f"GDE({self.convs[0].in_channels}, layers={len(self.convs)})"


def core(
    channels: int,
    num_layers: int,
    dropout: float,
    act: Any,
    *,
    layers: int = 2,
    time: float | None = None,
    method: str = "rk4",
    memory: str = "auto",
) -> Flow:
    """GDE over a time T; without one every step takes a time of 1."""
    return Flow(
        GDE(channels, layers, act, dropout),
        channels,
        num_layers,
        act,
        dt=time_step(time, num_layers),
        method=method,
        memory=memory,
        dropout=dropout,
    )


CARDS = (rival("gde", core, "a small GCN as the slope of the state", "Poli et al. 2019, arXiv:1911.07532"),)
