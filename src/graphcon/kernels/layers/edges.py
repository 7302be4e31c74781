"""Features of edges, as the kernels take them."""

from typing import Any

import torch
from torch import Tensor

from graphcon.kernels.structure import Graph


def given_as_expected(edge_attr: Tensor | None, edge_dim: int | None) -> bool:
    """Whether there are features exactly if the layer has a map for them."""
    return edge_attr is None if edge_dim is None else edge_attr is not None and edge_attr.dim() == 2


def linear_terms(layer: Any, graph: Graph, edge_attr: Tensor, weight: Tensor, nodes: int) -> Tensor | None:
    """A linear map of the features per slot, with the loops that GAT and GATv2 add: ``[slots, len(weight)]``.

    The map is linear, so that what it makes of a mean of features is the mean of what it makes of them.

    Args:
        layer: Tells whether loops are added, and what features they get.
        graph: The slots.
        edge_attr: The features ``[edges]`` or ``[edges, edge_dim]``.
        weight: The map ``[terms, edge_dim]``.
        nodes: Number of nodes.
    """
    terms = (edge_attr.unsqueeze(-1) if edge_attr.dim() == 1 else edge_attr) @ weight.t()
    slots = graph.spread(terms, 0.0)
    if not layer.add_self_loops:
        return slots
    looped = (graph.row == graph.col).unsqueeze(-1)
    if isinstance(layer.fill_value, int | float):
        return torch.where(looped, layer.fill_value * weight.sum(1), slots)
    if layer.fill_value != "mean":
        return None
    others = torch.where(looped, torch.zeros_like(slots), slots)
    total = others.new_zeros(nodes, len(weight)).index_add(0, graph.row, others)
    count = others.new_zeros(nodes, 1).index_add(0, graph.row, (~looped).to(others.dtype))
    return torch.where(looped, (total / count.clamp(min=1))[graph.row], slots)
