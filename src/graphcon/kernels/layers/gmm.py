from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn.aggr import MeanAggregation, SumAggregation

from graphcon.kernels.coupling import Coupling
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import known


def bind(layer: Any, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Coupling | None:
    r"""GMMConv, and MoNet around it: the Gaussians do not depend on the state: an edge has a fixed weight per kernel.

    .. math::
        F(X)_i = b + R X_i + \sum_k \sum_{j \to i} w_k(u_{ij}) G_k X_j
    """
    mean = type(layer.aggr_module) is MeanAggregation
    fits = mean or type(layer.aggr_module) is SumAggregation
    if edge_attr is None or edge_attr.dim() != 2 or edge_attr.size(1) != layer.dim:
        return None
    if layer.separate_gaussians or not layer.root_weight or not fits:
        return None
    about, nodes = known(edge_index), x.size(0)
    graph = about.graph(edge_index, nodes, False)
    # One coordinate after the other: a last dimension of two or three numbers is slow to go over.
    scale = -0.5 / (1e-15 + layer.sigma**2)  # [kernels, dim]
    terms = ((u.unsqueeze(-1) - layer.mu[:, d]) ** 2 * scale[:, d] for d, u in enumerate(edge_attr.t()))
    edge = torch.exp(reduce(torch.add, terms))[graph.edge]
    if mean:

        def share() -> Tensor:
            ones = x.new_ones(edge_index.size(1), 1)
            return 1.0 / x.new_zeros(nodes, 1).index_add(0, graph.row, ones)[graph.row]

        edge = edge * about.value(("share", nodes, x.dtype), None, share)
    plan = Plan("fixed", layer.kernel_size, x.size(1), concat=False, skip=True)
    return Coupling(plan, (layer.g.t(), layer.root.weight), graph, bias=layer.bias, edge=edge)


def bind_monet(layer: Any, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Coupling | None:
    """:class:`graphcon.couplings.MoNetConv`, which makes coordinates from the degrees where none are given."""
    if edge_attr is None and layer.dim == 2:

        def coordinates() -> Tensor:
            source, target = edge_index
            count = x.new_zeros(x.size(0)).index_add(0, target, x.new_ones(edge_index.size(1)))
            scale = count.clamp(min=1).rsqrt()
            return torch.stack([scale[target], scale[source]], dim=-1)

        edge_attr = known(edge_index).value(("monet", x.size(0), x.dtype), None, coordinates)
    return bind(layer, x, edge_index, edge_attr)
