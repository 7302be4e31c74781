"""Couplings with a gate per channel."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import Sigmoid
from torch_geometric.nn import ResGatedGraphConv

from graphcon.kernels.coupling import Coupling
from graphcon.kernels.layers.edges import given_as_expected
from graphcon.kernels.layers.maps import biases
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import known


def bind_res_gated(
    layer: ResGatedGraphConv, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None
) -> Coupling | None:
    """ResGatedGraphConv: the gates as they are, with and without edge features."""
    if not given_as_expected(edge_attr, layer.edge_dim) or type(layer.act) is not Sigmoid:
        return None
    graph = known(edge_index).graph(edge_index, x.size(0), False)
    lins = [layer.lin_key, layer.lin_query, layer.lin_value]
    # The maps take node and edge side by side: what they make of the edge is the same at every step.
    key, query, value = (lin.weight[:, x.size(1) :] for lin in lins)
    edge = None if edge_attr is None else graph.spread(edge_attr @ torch.cat([key + query, value]).t(), 0.0)
    weight = tuple(lin.weight[:, : x.size(1)] for lin in lins)
    shift = biases(*lins)
    plan = Plan("gated", 1, x.size(1), shift=bool(shift))
    coupling = Coupling(plan, weight, graph, shift=shift, bias=layer.bias, edge=edge)
    return coupling if layer.lin_skip is None else coupling.plus_linear(layer.lin_skip.weight)


def bind_gated_gcn(layer: Any, x: Tensor, edge_index: Tensor) -> Coupling:
    """:class:`graphcon.couplings.GatedGCNConv`: the gates divided by their sum."""
    lins = [layer.lin_gate_i, layer.lin_gate_j, layer.lin_neighbor, layer.lin_self]
    shift = biases(*lins)
    plan = Plan("gated-mean", 1, x.size(1), skip=True, shift=bool(shift), leak=layer.eps)
    graph = known(edge_index).graph(edge_index, x.size(0), False)
    return Coupling(plan, tuple(lin.weight for lin in lins), graph, shift=shift)
