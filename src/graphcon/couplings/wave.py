import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.parameter import is_lazy
from torch_geometric.nn import GATConv, GCNConv, inits

from graphcon.couplings.identity import IdentityMap
from graphcon.couplings.residual import Residual


@torch.no_grad()
def start_as_wave(layer: Module, gamma: float) -> None:
    r"""Sets the weights of a layer so that :math:`F(X) = \gamma P X`, where P takes averages over neighbours.

    Without activation the oscillators then start as the wave equation of the graph,

    .. math::
        X'' = -\gamma (I - P) X - \alpha X',

    in which a signal travels :math:`\Delta t \sqrt{\gamma / 3}` hops a step along a path (GCN) and, for
    :math:`\alpha = 0`, is not lost; nothing grows but what all nodes have in common, which moves on at its first
    velocity. With random weights states grow and the signal is drowned: after 64 linear steps around a ring, what a
    node 32 hops away brings is about the rounding of the rest or below it.

    Args:
        layer (torch.nn.Module): A ``GCNConv``, a ``GATConv``, or a :class:`Residual` around one; its term becomes zero.
        gamma (float): The squared frequency.
    """
    if isinstance(layer, Residual):
        inits.zeros(layer.lin.weight)
        layer = layer.coupling
    if isinstance(getattr(layer, "lin", None), IdentityMap):
        raise ValueError("start='wave' is a way to set weights, but values=False leaves them out: take one of the two")
    weight = layer.lin.weight if isinstance(layer, GCNConv | GATConv) and layer.lin is not None else None
    if isinstance(weight, Tensor) and is_lazy(weight):
        raise ValueError(f"start='wave' needs a layer that knows its width, but this is {layer}: give it in_channels")
    if not isinstance(weight, Tensor) or weight.size(0) != weight.size(1):
        raise ValueError(f"start='wave' is for gcn and gat, with heads side by side; this is a {type(layer).__name__}")
    weight.copy_(gamma * torch.eye(len(weight)))
    inits.zeros(layer.bias)
