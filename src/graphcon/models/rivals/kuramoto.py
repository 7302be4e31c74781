from typing import Any

from torch import Tensor

from graphcon.couplings import DotProductConv
from graphcon.models.card import rival
from graphcon.models.flow import Dynamics, Flow, Slope, time_step
from graphcon.models.rivals._propagation import spreading


class Kuramoto(Dynamics):
    r"""Phases that pull at each other, `"From Coupled Oscillators to Graph Neural Networks"
    <https://arxiv.org/abs/2311.03260>`_.

    .. math::
        X_i' = X_i(0) + K \sum_j a_{ij} \sin(X_j - X_i)

    with the first state as the natural frequencies and the scaled dot-product attention of the first state as a, as in
    GRAND-l. No edge is written out: :math:`\sin(u - v) = \sin u \cos v - \cos u \sin v` makes two sums of it.

    Args:
        channels (int): Size of the state.
        K (float, optional): The strength of the coupling. (default: :obj:`1.0`)
        heads (int, optional): Number of attention matrices to average. (default: :obj:`4`)
    """

    def __init__(self, channels: int, K: float = 1.0, heads: int = 4):
        super().__init__()
        self.K = K
        self.conv = DotProductConv(channels, channels, heads, values=False, bias=False)

    def reset_parameters(self) -> None:
        self.conv.reset_parameters()

    def forward(self, x: Tensor, edge_index: Any) -> Slope:
        """Binds the natural frequencies and the attention."""
        frequency, spread = x, spreading(x, *self.conv.attention(x, edge_index))

        def slope(x: Tensor) -> Tensor:
            sin, cos = x.sin(), x.cos()
            return frequency + self.K * (cos * spread(sin) - sin * spread(cos))

        return slope

    def __repr__(self) -> str:
        return f"Kuramoto({self.conv.in_channels}, K={self.K:g}, heads={self.conv.heads})"


def core(
    channels: int,
    num_layers: int,
    dropout: float,
    act: Any,
    *,
    K: float = 1.0,
    heads: int = 4,
    time: float | None = None,
    method: str = "euler",
    memory: str = "auto",
) -> Flow:
    """Kuramoto's equation over a time T; without one every step takes a time of 1."""
    dynamics = Kuramoto(channels, K, heads)
    return Flow(dynamics, channels, num_layers, act, dt=time_step(time, num_layers), method=method, memory=memory)


CARDS = (
    rival(
        "kuramoto",
        core,
        "phases coupled by sines of differences",
        "Nguyen et al. 2023, arXiv:2311.03260",
        act_on="last",
    ),
)
