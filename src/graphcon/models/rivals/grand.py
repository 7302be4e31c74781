from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch_geometric.nn import inits

from graphcon import kernels
from graphcon.couplings import DotProductConv
from graphcon.models.card import rival
from graphcon.models.flow import Dynamics, Flow, Slope, time_step
from graphcon.models.rivals._propagation import spreading


class GRAND(Dynamics):
    r"""Diffusion by attention, `"GRAND: Graph Neural Diffusion" <https://arxiv.org/abs/2106.10934>`_.

    .. math::
        X' = \alpha\,(A - I)\,X + \beta\,X_0

    with the mean over heads of the scaled dot-product attention, a right-stochastic A that sees the node itself, and
    learned :math:`\alpha \in (0, 1)` and :math:`\beta`. GRAND-l takes :math:`A(X_0)` for the whole way, so the equation
    is linear; GRAND-nl takes :math:`A(X)` at every evaluation.

    Args:
        channels (int): Size of the state.
        linear (bool): Whether the attention is computed once.
        heads (int, optional): Number of attention matrices to average. (default: :obj:`4`)
        attention_dim (int, optional): Size of all keys together. (default: about ``channels``)
        add_source (bool, optional): Whether :math:`\beta X_0` is there. (default: :obj:`True`)
    """

    def __init__(
        self, channels: int, linear: bool, heads: int = 4, attention_dim: int | None = None, add_source: bool = True
    ):
        super().__init__()
        keys = None if attention_dim is None else -(-attention_dim // heads)
        self.linear = linear
        self.conv = DotProductConv(channels, channels, heads, keys, values=False, bias=False)
        self.alpha = Parameter(torch.empty(()))
        self.beta = Parameter(torch.empty(())) if add_source else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.conv.reset_parameters()
        inits.zeros(self.alpha)  # the sigmoid of it is one half
        inits.zeros(self.beta)

    def forward(self, x: Tensor, edge_index: Any) -> Slope:
        """Binds the attention of the first state (GRAND-l) and the source."""
        alpha, source = torch.sigmoid(self.alpha), 0.0 if self.beta is None else self.beta * x
        mix = self._bind(x, edge_index)
        return lambda x: alpha * (mix(x) - x) + source

    def _bind(self, x: Tensor, edge_index: Any) -> Slope:
        """A(X) X, or A(X_0) X."""
        if self.linear:
            return spreading(x, *self.conv.attention(x, edge_index))
        return kernels.bind(self.conv, x, (edge_index,), {}) or (lambda x: self.conv(x, edge_index))

    def __repr__(self) -> str:
        return f"GRAND-{'l' if self.linear else 'nl'}({self.conv.in_channels}, heads={self.conv.heads})"


def core(
    channels: int,
    num_layers: int,
    dropout: float,
    act: Any,
    *,
    linear: bool,
    heads: int = 4,
    attention_dim: int | None = None,
    add_source: bool = True,
    time: float | None = None,
    method: str = "euler",
    memory: str = "auto",
) -> Flow:
    """GRAND over a time T; without one every step takes a time of 1."""
    dynamics = GRAND(channels, linear, heads, attention_dim, add_source)
    return Flow(dynamics, channels, num_layers, act, dt=time_step(time, num_layers), method=method, memory=memory)


_PAPER = "Chamberlain et al. 2021, arXiv:2106.10934"
CARDS = (
    rival("grand-l", core, "diffusion by an attention computed once", _PAPER, act_on="last", linear=True),
    rival("grand-nl", core, "diffusion by an attention computed at every step", _PAPER, act_on="last", linear=False),
)
