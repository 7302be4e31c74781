"""Pseudo-coordinates of edges, for the layers whose kernels live on them."""

import math

import torch
from torch import Tensor
from torch_geometric.utils import degree, scatter


def degree_coordinates(edge_index: Tensor, nodes: int, dtype: torch.dtype) -> Tensor:
    r"""The degrees of an edge's ends, :math:`(1/\sqrt{d_i}, 1/\sqrt{d_j})` between 0 and 1, ``[edges, 2]``."""
    scale = degree(edge_index[1], nodes, dtype=dtype).clamp(min=1).rsqrt()
    return torch.stack([scale[edge_index[1]], scale[edge_index[0]]], dim=-1)


def cartesian_coordinates(pos: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
    """Where the source of an edge lies seen from its target, ``[edges, dimensions]``.

    The largest difference in a graph becomes 0 or 1, none becomes 0.5.
    """
    offset = pos[edge_index[0]] - pos[edge_index[1]]
    largest = _largest(offset.abs().amax(-1), edge_index, batch)
    return 0.5 + offset / (2 * largest).unsqueeze(-1)


def polar_coordinates(pos: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
    """The distance of the source of an edge from its target, and the angle it is seen at, ``[edges, 2]``.

    The largest distance in a graph becomes 1, a full turn too.
    """
    offset = pos[edge_index[0]] - pos[edge_index[1]]
    distance = offset.norm(dim=-1)
    angle = torch.atan2(offset[:, 1], offset[:, 0]) / (2 * math.pi)
    return torch.stack([distance / _largest(distance, edge_index, batch), angle % 1.0], dim=-1)


#: The pseudo-coordinates that positions give, by name.
COORDINATES = {"cartesian": cartesian_coordinates, "polar": polar_coordinates}


def _largest(values: Tensor, edge_index: Tensor, batch: Tensor | None) -> Tensor:
    """For each edge the largest value of its graph; 1 where all are 0."""
    graph = torch.zeros_like(edge_index[1]) if batch is None else batch[edge_index[1]]
    most = scatter(values, graph, reduce="max")[graph]
    return torch.where(most > 0, most, 1.0)
