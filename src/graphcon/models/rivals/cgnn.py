import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch_geometric.nn import inits
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from graphcon.models.card import rival
from graphcon.models.flow import Dynamics, Flow, Slope, time_step
from graphcon.models.rivals._propagation import spreading


class CGNN(Dynamics):
    r"""`"Continuous Graph Neural Networks" <https://arxiv.org/abs/1912.00967>`_.

    .. math::
        X' = (A - I)\,X + X\,(W - I) + X_0, \qquad
        A = \tfrac{\alpha}{2}\,(I + D^{-1/2} \tilde{A} D^{-1/2}), \qquad W = U\,\mathrm{diag}(d)\,U^\top

    with a learned :math:`\alpha \in (0, 1)`, an orthogonal U and :math:`0 \le d \le 1`; without ``weight`` the term of
    W is not there. :math:`\tilde{A}` has loops of weight ``self_link_weight``. The authors learn an :math:`\alpha` for
    every node of one graph and push U towards orthogonality after every update; here there is one :math:`\alpha`, so
    that the model can be used on other graphs, and U is orthogonal by its form, the exponential of a skew matrix.

    Args:
        channels (int): Size of the state.
        weight (bool, optional): Whether channels are mixed by W. (default: :obj:`True`)
        alpha (float, optional): Where :math:`\alpha` starts. (default: :obj:`0.95`)
        self_link_weight (float, optional): Weight of the loops. (default: :obj:`1.0`)
    """

    def __init__(self, channels: int, weight: bool = True, alpha: float = 0.95, self_link_weight: float = 1.0):
        super().__init__()
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha={alpha}, but alpha is learned between 0 and 1: 0 < alpha < 1")
        self.channels, self.start, self.self_link_weight = channels, alpha, self_link_weight
        self.alpha = Parameter(torch.empty(()))
        self.skew = Parameter(torch.empty(channels, channels)) if weight else None
        self.d = Parameter(torch.empty(channels)) if weight else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        torch.nn.init.constant_(self.alpha, math.log(self.start / (1 - self.start)))
        inits.glorot(self.skew)
        inits.ones(self.d)

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Slope:
        """Binds the normalised adjacency, W and the source."""
        edge_index, norm = self._normalized(edge_index, edge_weight, x)
        alpha, mix, source, spread = torch.sigmoid(self.alpha), self.mixing(), x, spreading(x, edge_index, norm)

        def slope(x: Tensor) -> Tensor:
            out = alpha / 2 * (x + spread(x)) - x + source
            return out if mix is None else out + x @ mix - x

        return slope

    def mixing(self) -> Tensor | None:
        """W, symmetric with eigenvalues between 0 and 1; None where there is none."""
        if self.skew is None or self.d is None:
            return None
        u = torch.matrix_exp(self.skew - self.skew.t())
        return u * self.d.clamp(0.0, 1.0) @ u.t()

    def _normalized(self, edge_index: Tensor, edge_weight: Tensor | None, x: Tensor) -> tuple[Tensor, Tensor]:
        loops = torch.arange(x.size(0), device=x.device).expand(2, -1)
        ones = x.new_ones(edge_index.size(1)) if edge_weight is None else edge_weight
        weights = torch.cat([ones, x.new_full((x.size(0),), self.self_link_weight)])
        return gcn_norm(torch.cat([edge_index, loops], 1), weights, x.size(0), add_self_loops=False)  # pyright: ignore[reportReturnType]  # a pair, for a dense edge_index

    def __repr__(self) -> str:
        return f"CGNN({self.channels}, weight={self.skew is not None})"


def core(
    channels: int,
    num_layers: int,
    dropout: float,
    act: Any,
    *,
    weight: bool = True,
    alpha: float = 0.95,
    self_link_weight: float = 1.0,
    time: float | None = None,
    method: str = "rk4",
    memory: str = "auto",
) -> Flow:
    """CGNN over a time T; without one every step takes a time of 1."""
    dynamics = CGNN(channels, weight, alpha, self_link_weight)
    return Flow(dynamics, channels, num_layers, act, dt=time_step(time, num_layers), method=method, memory=memory)


CARDS = (
    rival(
        "cgnn",
        core,
        "linear diffusion with a source in continuous time",
        "Xhonneux et al. 2020, arXiv:1912.00967",
        act_on="last",
    ),
)
