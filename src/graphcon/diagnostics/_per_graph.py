"""Sums and maxima per graph, so that every measure has one answer for one graph and one per graph for a batch."""

from typing import Any

import torch
from torch import Tensor

from graphcon._validation import check_edge_index


def in_single_precision(x: Tensor) -> Tensor:
    """The features as they are, or in single precision where they have less: sums of half precision lose too much."""
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def check_features(x: Tensor) -> None:
    """Refuses features that are no matrix, or of no node: nothing could be said of them."""
    if x.dim() < 2 or x.size(-2) == 0:
        rule = "[..., nodes, channels]" if x.dim() < 2 else "[..., nodes, channels] with at least one node"
        raise ValueError(f"x has shape {list(x.shape)}, but a measure needs features of shape {rule}")


def check_edges(edge_index: Any, nodes: int) -> None:
    """Refuses what is no tensor of edges between the nodes."""
    check_edge_index(edge_index, nodes)
    if not isinstance(edge_index, Tensor) or edge_index.layout is not torch.strided:
        raise TypeError("edge_index is a sparse matrix, but a measure needs the edges as a tensor of shape [2, edges]")


def graph_of_nodes(x: Tensor, batch: Tensor | None) -> Tensor:
    """The graph of every node, ``[nodes]``: all in graph 0 where there is no batch."""
    if batch is None:
        return torch.zeros(x.size(-2), dtype=torch.long, device=x.device)
    if batch.shape != (x.size(-2),):
        raise ValueError(
            f"batch has shape {tuple(batch.shape)}, but x has {x.size(-2)} nodes: it names the graph of every node"
        )
    return batch


def sum_per_graph(values: Tensor, graph: Tensor, graphs: int) -> Tensor:
    """Sums ``values [..., items]`` over the items of every graph, ``[..., graphs]``."""
    return values.new_zeros(*values.shape[:-1], graphs).index_add(-1, graph, values)


def largest_per_graph(x: Tensor, graph: Tensor, graphs: int) -> Tensor:
    """The largest magnitude in ``x [..., nodes, channels]`` of every graph, ``[..., graphs]``."""
    of_nodes = x.abs().amax(-1)
    return x.new_zeros(*of_nodes.shape[:-1], graphs).scatter_reduce(-1, graph.expand_as(of_nodes), of_nodes, "amax")


def count(batch: Tensor | None) -> int:
    """The number of graphs."""
    return 1 if batch is None else int(batch.max()) + 1 if batch.numel() else 0


def answer(per_graph: Tensor, batch: Tensor | None) -> Tensor:
    """``[..., graphs]`` for a batch, ``[...]`` for a single graph."""
    return per_graph.squeeze(-1) if batch is None else per_graph
