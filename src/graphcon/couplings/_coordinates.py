"""Pseudo-coordinates of edges, for the layers whose kernels live on them."""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.utils import degree, scatter

if TYPE_CHECKING:
    from graphcon.couplings.monet import MoNetConv
    from graphcon.couplings.spline import SplineConv


def degree_coordinates(edge_index: Tensor, nodes: int, dtype: torch.dtype) -> Tensor:
    r"""The degrees of an edge's ends, :math:`(1/\sqrt{d_i}, 1/\sqrt{d_j})` between 0 and 1, ``[edges, 2]``."""
    scale = degree(edge_index[1], nodes, dtype=dtype).clamp(min=1).rsqrt()
    return torch.stack([scale[edge_index[1]], scale[edge_index[0]]], dim=-1)


def given_or_degrees(
    layer: "MoNetConv | SplineConv", x: Tensor, edge_index: Tensor, edge_attr: Tensor | None
) -> Tensor:
    """The pseudo-coordinates a layer is given, or where there are none the degrees of an edge's ends.

    Raises:
        ValueError: There are none, and the layer wants another number of them than there are ends.
    """
    if edge_attr is not None:
        return edge_attr
    if layer.dim != 2:
        raise ValueError(
            f"edge_attr is missing: {layer} has dim={layer.dim} pseudo-coordinates, and only dim=2 can be made from "
            "the degrees of an edge's ends"
        )
    return degree_coordinates(edge_index, x.size(0), x.dtype)


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
