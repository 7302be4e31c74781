from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn import GATConv

from graphcon.kernels.coupling import Coupling
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import Graph, known


def bind(layer: GATConv, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Coupling | None:
    r"""GAT: heads, concat or mean, attention dropout, a residual map, edge features.

    The two halves of the score are linear in x, so they are columns of the one product:
    :math:`a^\top W x = (W^\top a)^\top x`.
    """
    if layer.lin is None:
        return None
    heads, width = layer.heads, layer.out_channels
    weight = layer.lin.weight
    blocks = weight.view(heads, width, -1)
    source = (layer.att_src.view(heads, width, 1) * blocks).sum(1)  # [heads, channels]
    target = (layer.att_dst.view(heads, width, 1) * blocks).sum(1)
    graph = known(edge_index).graph(edge_index, x.size(0), layer.add_self_loops)
    edge = None
    if layer.lin_edge is not None and edge_attr is not None:
        edge = _edge_scores(layer, graph, edge_attr, x.size(0))
        if edge is None:
            return None
    plan = Plan(
        "additive", heads, width, 0, layer.concat, False, False, 1.0 if layer.concat else 1.0 / heads,
        layer.negative_slope, layer.dropout if layer.training else 0.0,
    )  # fmt: skip
    coupling = Coupling(plan, torch.cat([weight, source, target]), graph, bias=layer.bias, edge=edge)
    return coupling if layer.res is None else coupling.plus_linear(layer.res.weight)


def _edge_scores(layer: Any, graph: Graph, edge_attr: Tensor, nodes: int) -> Tensor | None:
    """What the edges bring into the scores, per slot and head. It is linear, so a loop's mean is a mean of scores."""
    heads, width = layer.heads, layer.out_channels
    vectors = (layer.att_edge.view(heads, width, 1) * layer.lin_edge.weight.view(heads, width, -1)).sum(1)
    score = (edge_attr.unsqueeze(-1) if edge_attr.dim() == 1 else edge_attr) @ vectors.t()
    slots = graph.spread(score, 0.0)
    if not layer.add_self_loops:
        return slots
    looped = (graph.row == graph.col).unsqueeze(-1)
    if isinstance(layer.fill_value, int | float):
        own = layer.fill_value * vectors.sum(1)
        return torch.where(looped, own, slots)
    if layer.fill_value != "mean":
        return None
    others = torch.where(looped, torch.zeros_like(slots), slots)
    total = others.new_zeros(nodes, heads).index_add(0, graph.row, others)
    count = others.new_zeros(nodes, 1).index_add(0, graph.row, (~looped).to(others.dtype))
    return torch.where(looped, (total / count.clamp(min=1))[graph.row], slots)
