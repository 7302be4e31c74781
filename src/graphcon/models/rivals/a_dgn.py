from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn import AntiSymmetricConv

from graphcon._activations import resolve_act
from graphcon.models.card import rival
from graphcon.models.flow import Dynamics, Flow, Slope


class ADGN(Dynamics):
    r"""Rotations that neither grow nor decay, `"Anti-Symmetric DGN" <https://arxiv.org/abs/2210.09789>`_.

    .. math::
        X' = \sigma\big(X (W - W^\top - \gamma I)^\top + \Phi(X) + b\big)

    with a GCN layer for :math:`\Phi`: the slope of PyG's ``AntiSymmetricConv``, whose parameters it holds and whose
    iteration is Euler's step with :math:`\Delta t = \epsilon`.

    Args:
        channels (int): Size of the state.
        gamma (float, optional): The damping. (default: :obj:`0.1`)
        act (str or Callable, optional): The activation. (default: :obj:`"tanh"`)
    """

    def __init__(self, channels: int, gamma: float = 0.1, act: str | Callable[[Tensor], Tensor] | None = "tanh"):
        super().__init__()
        self.conv = AntiSymmetricConv(channels, gamma=gamma, act=resolve_act(act))

    def reset_parameters(self) -> None:
        self.conv.reset_parameters()

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Slope:
        """Binds the graph and the antisymmetric matrix."""
        conv = self.conv
        matrix = conv.W.t() - conv.W - conv.gamma * torch.eye(conv.in_channels, dtype=x.dtype, device=x.device)
        assert conv.act is not None

        def slope(x: Tensor) -> Tensor:
            return conv.act(x @ matrix + conv.phi(x, edge_index, edge_weight) + conv.bias)  # pyright: ignore[reportOptionalCall]  # PyG's act is None only where none is asked for

        return slope

    def __repr__(self) -> str:
        return f"ADGN({self.conv.in_channels}, gamma={self.conv.gamma:g})"


def core(
    channels: int,
    num_layers: int,
    dropout: float,
    act: Any,
    *,
    epsilon: float = 0.1,
    gamma: float = 0.1,
    method: str = "euler",
    shared: bool = True,
    memory: str = "auto",
) -> Flow:
    """A-DGN with steps of length epsilon."""
    layers = [ADGN(channels, gamma, act) for _ in range(1 if shared else num_layers)]
    return Flow(layers, channels, num_layers, act, dt=epsilon, method=method, memory=memory)


CARDS = (
    rival("a-dgn", core, "an antisymmetric map that neither grows nor decays", "Gravina et al. 2023, arXiv:2210.09789"),
)
