"""Couplings with a gate per channel."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import Sigmoid
from torch_geometric.nn import ResGatedGraphConv

from graphcon.kernels.coupling import Coupling
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import known


def bind_res_gated(
    layer: ResGatedGraphConv, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None
) -> Coupling | None:
    """ResGatedGraphConv without edge features: the gates as they are."""
    whole = isinstance(layer.in_channels, int) and edge_attr is None and layer.edge_dim is None
    if not whole or type(layer.act) is not Sigmoid:
        return None
    lins = [layer.lin_key, layer.lin_query, layer.lin_value]
    shift = torch.cat([lin.bias for lin in lins])
    plan = Plan("gated", 1, x.size(1), 0, True, False, True, 1.0, 0.0, 0.0)
    graph = known(edge_index).graph(edge_index, x.size(0), False)
    coupling = Coupling(plan, torch.cat([lin.weight for lin in lins]), graph, shift=shift, bias=layer.bias)
    return coupling if layer.lin_skip is None else coupling.plus_linear(layer.lin_skip.weight)


def bind_gated_gcn(layer: Any, x: Tensor, edge_index: Tensor) -> Coupling:
    """:class:`graphcon.couplings.GatedGCNConv`: the gates divided by their sum."""
    lins = [layer.lin_gate_i, layer.lin_gate_j, layer.lin_neighbor, layer.lin_self]
    biased = layer.lin_self.bias is not None
    shift = None
    if biased:
        shift = torch.cat([x.new_zeros(x.size(1)) if lin.bias is None else lin.bias for lin in lins])
    plan = Plan("gated-mean", 1, x.size(1), 0, True, True, biased, 1.0, layer.eps, 0.0)
    graph = known(edge_index).graph(edge_index, x.size(0), False)
    return Coupling(plan, torch.cat([lin.weight for lin in lins]), graph, shift=shift)
