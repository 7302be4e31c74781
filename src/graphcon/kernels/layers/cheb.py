from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor
from torch_geometric.nn import ChebConv

from graphcon.kernels import _runtime
from graphcon.kernels.propagate import propagate, rows_of
from graphcon.kernels.structure import Graph, known


def bind(
    layer: ChebConv, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None, batch: Tensor | None = None
) -> Callable[[Tensor], Tensor] | None:
    r"""ChebConv: the polynomials on the kernels, and one product with all of them side by side.

    .. math::
        F(X) = b + \sum_k T_k(\hat L) X W_k, \qquad \hat L = 2 L / \lambda_{\max} - I

    The layer looks at ``batch`` only where the largest eigenvalue of every graph is given, which is not covered.
    """
    if not _runtime.pays(edge_index, x):
        return None
    about, nodes = known(edge_index), x.size(0)
    graph = about.graph(edge_index, nodes, True)

    def laplacian() -> Tensor:
        given = x.new_ones(edge_index.size(1)) if edge_weight is None else edge_weight
        return _scaled_laplacian(graph.spread(given, 0.0), graph, nodes, layer.normalization).unsqueeze(-1)

    edge = about.value(("cheb", nodes, layer.normalization, x.dtype), edge_weight, laplacian)
    rows = rows_of(graph)

    def coupling(x: Tensor) -> Tensor:
        terms = [x]
        if len(layer.lins) > 1:
            terms.append(propagate(x, edge, *rows))
        for _ in range(2, len(layer.lins)):
            terms.append(2.0 * propagate(terms[-1], edge, *rows) - terms[-2])
        weight = torch.cat([cast(Tensor, lin.weight) for lin in layer.lins], dim=1)
        return torch.nn.functional.linear(torch.cat(terms, dim=1), weight, layer.bias)

    return coupling


def _scaled_laplacian(weight: Tensor, graph: Graph, nodes: int, normalization: str | None) -> Tensor:
    """Per slot, loops included, as PyG has it: loops that came with the graph do not count."""
    source, used = graph.col.long(), torch.arange(weight.size(0), device=weight.device) < graph.ptr[-1]
    loop = (graph.row == source) & used
    weight = torch.where(loop | ~used, torch.zeros_like(weight), weight)
    degree = weight.new_zeros(nodes).index_add(0, source, weight)
    if normalization is None:
        value = torch.where(loop, degree[source], -weight)
    elif normalization == "sym":
        scale = degree.pow(-0.5)
        scale = scale.masked_fill(scale == float("inf"), 0.0)
        value = torch.where(loop, torch.ones_like(weight), -scale[source] * weight * scale[graph.row])
    else:
        scale = 1.0 / degree
        scale = scale.masked_fill(scale == float("inf"), 0.0)
        value = torch.where(loop, torch.ones_like(weight), -scale[source] * weight)
    largest = 2.0 * torch.where(used, value, torch.full_like(value, -float("inf"))).max()
    value = 2.0 * value / largest
    value = value.masked_fill(value == float("inf"), 0.0)
    return torch.where(loop, value - 1.0, value)
