"""How far apart the directions of the nodes' features are."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from graphcon.diagnostics._per_graph import (
    answer,
    check_edges,
    check_features,
    count,
    graph_of_nodes,
    in_single_precision,
    sum_per_graph,
)


def mean_average_distance(x: Tensor, edge_index: Tensor | None = None, batch: Tensor | None = None) -> Tensor:
    r"""The mean average distance (MAD): the cosine distance of nodes, averaged per node and then over the nodes.

    .. math::
        \mathrm{MAD}(X) = \frac{1}{|V'|} \sum_{i \in V'} \frac{1}{|N_i|} \sum_{j \in N_i}
        \left(1 - \frac{X_i^\top X_j}{\|X_i\| \|X_j\|}\right)

    Zero where all features point the same way, whatever their length; one where they are orthogonal on average. So it
    does not see a collapse in length, and says nothing about a single channel. A node whose features are all zero has
    no direction: it is left out, as node and as neighbour. A graph with no pair left has distance zero.

    Args:
        x (torch.Tensor): Node features, ``[..., nodes, channels]``.
        edge_index (torch.Tensor, optional): The edges, ``[2, edges]``: a node's neighbours are the sources of the
            edges that end in it. Self-loops are left out. (default: all other nodes of its graph are neighbours)
        batch (torch.Tensor, optional): The graph of every node, ``[nodes]``. (default: one graph)

    Returns:
        The distance ``[...]``, or ``[..., graphs]`` for a batch.
    """
    check_features(x)
    if edge_index is not None:
        check_edges(edge_index, x.size(-2))
    x, graph, graphs = in_single_precision(x), graph_of_nodes(x, batch), count(batch)
    tiny = torch.finfo(x.dtype).tiny
    # By the largest entry first: squares of a state that has all but vanished would be zero. Zeros stay zeros.
    unit = normalize(x / x.abs().amax(-1, keepdim=True).clamp(min=tiny), dim=-1, eps=tiny)
    present = (unit != 0).any(-1).to(x.dtype)  # [..., nodes]
    if edge_index is None:
        total, neighbours = _to_all(unit, present, graph, graphs)
    else:
        total, neighbours = _to_neighbours(unit, present, edge_index[:, edge_index[0] != edge_index[1]])
    counted = (present > 0) & (neighbours > 0)
    average = torch.where(counted, total / neighbours.clamp(min=1), 0.0).clamp(min=0)
    nodes = sum_per_graph(counted.to(x.dtype), graph, graphs)
    return answer(sum_per_graph(average, graph, graphs) / nodes.clamp(min=1), batch)


def _to_neighbours(unit: Tensor, present: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
    """Per node the sum of the distances to its neighbours, and how many those are."""
    source, target = edge_index
    # Half the squared difference of unit vectors is 1 - cosine, without the cancellation for almost equal ones.
    distance = (unit[..., source, :] - unit[..., target, :]).square().sum(-1) / 2
    both = present[..., source] * present[..., target]
    nodes = unit.size(-2)
    return sum_per_graph(distance * both, target, nodes), sum_per_graph(both, target, nodes)


def _to_all(unit: Tensor, present: Tensor, graph: Tensor, graphs: int) -> tuple[Tensor, Tensor]:
    """The same to all other nodes of the graph, in time linear in the nodes: the cosines add up in the mean."""
    among = sum_per_graph(present, graph, graphs)[..., graph]  # [..., nodes]
    mean = sum_per_graph(unit.transpose(-1, -2), graph, graphs).transpose(-1, -2)[..., graph, :]
    mean = mean / among.clamp(min=1).unsqueeze(-1)
    # sum_j (1 - u_i·u_j) = n/2 (|u_i - m|² + 1 - |m|²), and 1 - |m|² is the mean of |u_j - m|².
    spread = (unit - mean).square().sum(-1) * present  # [..., nodes]
    variance = sum_per_graph(spread, graph, graphs)[..., graph] / among.clamp(min=1)
    return among / 2 * (spread + variance), among - 1
