from collections.abc import Callable
from typing import Any, Literal, cast

import torch
from torch import Tensor
from torch.nn import Dropout, Linear, Parameter
from torch_geometric.nn import inits
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from graphcon._activations import resolve_act
from graphcon.integrators import IMEX
from graphcon.models.card import rival
from graphcon.models.core import State
from graphcon.models.flow import Dynamics, Flow, Slope

Kind = Literal["diffusive", "hyperbolic", "mixed"]


class PDEForce(Dynamics):
    r"""The force of PDE-GCN: :math:`f(X) = -G^\top K^\top \sigma(K\,G\,X)`.

    G is the gradient on the edges, :math:`(G X)_{ij} = w_{ij} (X_i - X_j)` with the weights of GCN, and
    :math:`G^\top` its divergence. Every undirected edge stands in both directions and is counted once, so that nothing
    depends on which of its ends comes first.

    Args:
        channels (int): Size of the state.
        act (str or Callable, optional): The activation. (default: :obj:`"tanh"`)
        dropout (float, optional): Dropout on the force. (default: :obj:`0.0`)
    """

    def __init__(
        self, channels: int, act: str | Callable[[Tensor], Tensor] | None = "tanh", dropout: float = 0.0
    ):  # fmt: skip
        super().__init__()
        self.channels = channels
        self.lin = Linear(channels, channels, bias=False)
        self.act, self.dropout = resolve_act(act), Dropout(dropout)

    def reset_parameters(self) -> None:
        inits.glorot(self.lin.weight)

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Slope:
        """Binds the weights of the edges."""
        edges, norm = cast(tuple[Tensor, Tensor], gcn_norm(edge_index, edge_weight, x.size(0), dtype=x.dtype))
        (source, target), weight = edges, norm.unsqueeze(-1)

        def slope(x: Tensor) -> Tensor:
            kx = self.lin(x)  # K commutes with the gradient: a product per node, not per edge
            flux = weight * self.act(weight * (kx[target] - kx[source]))  # [edges, channels]
            divergence = torch.zeros_like(x).index_add(0, target, flux).index_add(0, source, -flux)
            return self.dropout(divergence @ self.lin.weight / -2)

        return slope

    def __repr__(self) -> str:
        return f"PDEForce({self.channels})"


class PDEGCN(Flow):
    r"""`"PDE-GCN: Novel Architectures for Graph Neural Networks Motivated by Partial Differential Equations"
    <https://arxiv.org/abs/2108.01938>`_: diffusion, waves, or a learned mixture of the two.

    .. math::
        \alpha X'' + (1 - \alpha) X' = f(X), \qquad
        \frac{\alpha}{h^2} (X_{n+1} - 2 X_n + X_{n-1}) + \frac{1 - \alpha}{h} (X_{n+1} - X_n) = f(X_n)

    with :math:`\alpha = 0` (PDE-GCN_D, Euler's step), :math:`\alpha = 1` (PDE-GCN_H, the leapfrog) or
    :math:`\alpha \in (0, 1)` learned (PDE-GCN_M), from :math:`X_{-1} = X_0`. With :math:`Y_n = (X_n - X_{n-1}) / h`
    each is the oscillator's own scheme without a spring, from rest: damping :math:`(1 - \alpha) / c` and force
    :math:`f / c` with :math:`c = \alpha + (1 - \alpha) h`.

    Args:
        layers (list): The force of every step.
        steps (int): The number of steps.
        kind (str): :obj:`"diffusive"`, :obj:`"hyperbolic"` or :obj:`"mixed"`.
        act (str or Callable, optional): The activation of the network around it. (default: :obj:`"relu"`)
        h (float, optional): The time of a step. (default: :obj:`0.5`)
        memory (str, optional): As in :class:`Flow`. (default: :obj:`"auto"`)
    """

    def __init__(self, layers: list[PDEForce], steps: int, kind: Kind, act: Any, h: float = 0.5, memory: str = "auto"):
        super().__init__(layers, layers[0].channels, steps, act, dt=h, memory=memory)
        self.kind = kind
        self.raw_alpha = Parameter(torch.zeros(())) if kind == "mixed" else None

    @property
    def alpha(self) -> float | Tensor:
        """The share of waves: 0, 1, or what was learned."""
        if self.raw_alpha is None:
            return float(self.kind == "hyperbolic")
        return torch.sigmoid(self.raw_alpha)

    def reset_parameters(self) -> None:
        inits.reset(self.layers)
        inits.zeros(self.raw_alpha)

    def begin(self, x: Tensor) -> State:
        return x, torch.zeros_like(x)

    def bind(self) -> Callable[..., State]:
        alpha = self.alpha
        c = alpha + (1 - alpha) * self.dt
        step = IMEX().bind(self.dt, (1 - alpha) / c, 0.0)
        return lambda force, x, y: step(lambda x: force(x) / c, x, y)

    def __repr__(self) -> str:
        return (
            f"PDEGCN({self.kind}, {self.layers[0]}, steps={self.steps}, h={self.dt:g}, shared={len(self.layers) == 1})"
        )


def core(
    channels: int,
    num_layers: int,
    dropout: float,
    act: Any,
    *,
    kind: Kind,
    h: float = 0.5,
    shared: bool = False,
    memory: str = "auto",
) -> PDEGCN:
    """PDE-GCN with a step of h."""
    layers = [PDEForce(channels, act, dropout) for _ in range(1 if shared else num_layers)]
    return PDEGCN(layers, num_layers, kind, act, h, memory)


_PAPER = "Eliasof et al. 2021, arXiv:2108.01938"
CARDS = (
    rival("pde-gcn-d", core, "nonlinear diffusion along edge gradients", _PAPER, kind="diffusive"),
    rival("pde-gcn-h", core, "nonlinear waves along edge gradients", _PAPER, kind="hyperbolic"),
    rival("pde-gcn-m", core, "a learned mixture of diffusion and waves", _PAPER, kind="mixed"),
)
