"""Averaging over neighbours without weights, which several rivals are made of."""

from collections.abc import Callable

from torch import Tensor
from torch_geometric.nn.conv import SimpleConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from graphcon import kernels
from graphcon.models.core import Edges

_SUM = SimpleConv(aggr="sum")


def spread(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
    r""":math:`X_i \mapsto \sum_j w_{ij} X_j` for edges ``(j, i)`` of weight w."""
    return spreading(x, edge_index, edge_weight)(x)


def spreading(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Callable[[Tensor], Tensor]:
    """:func:`spread` for many states like x on one graph."""
    bound = kernels.bind(_SUM, x, (edge_index, edge_weight), {}) if kernels.pays(edge_index, x) else None
    return bound or (lambda x: _SUM(x, edge_index, edge_weight))


def gcn_edges(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None, *, self_loops: bool = True) -> Edges:
    r"""The edges of :math:`\hat A = D^{-1/2} (A + I) D^{-1/2}`, or without I."""
    index, weight = gcn_norm(edge_index, edge_weight, x.size(0), add_self_loops=self_loops, dtype=x.dtype)
    return Edges(index, {"edge_weight": weight})
