"""Energies of node features on a graph: how different neighbours are, and what the oscillators conserve.

All functions take ``x`` as ``[nodes, channels]`` or, with any leading dimensions, as a whole trajectory
``[steps + 1, nodes, channels]``, and return one number per leading index.
"""

import torch
from torch import Tensor
from torch_geometric.utils import degree

from graphcon.diagnostics._per_graph import (
    answer,
    check_edges,
    check_features,
    count,
    graph_of_nodes,
    in_single_precision,
    largest_per_graph,
    sum_per_graph,
)


def dirichlet_energy(
    x: Tensor, edge_index: Tensor, batch: Tensor | None = None, *, by_degree: bool = False, relative: bool = False
) -> Tensor:
    r"""The paper's Dirichlet energy, eq. (13): zero if and only if all neighbours have the same features.

    .. math::
        \mathbf{E}(X) = \frac{1}{v} \sum_{i} \sum_{j \in \mathcal{N}_i} \|X_i - X_j\|^2

    An undirected edge stands in ``edge_index`` in both directions and is counted twice, as in the paper; a directed
    one is counted once. A node without neighbours adds nothing but counts among the v.

    Args:
        x (torch.Tensor): Node features, ``[..., nodes, channels]``.
        edge_index (torch.Tensor): The edges, ``[2, edges]``.
        batch (torch.Tensor, optional): The graph of every node, ``[nodes]``; then every graph has its own
            energy. (default: one graph)
        by_degree (bool, optional): Compares :math:`X_i / \sqrt{1 + d_i}` with d the edges that end in a node. This is
            zero where a GCN comes to rest, as the paper's form is not. (default: :obj:`False`)
        relative (bool, optional): Divides by :math:`\frac{1}{v} \sum_i \|X_i\|^2`: a state that only shrinks keeps
            its energy. Zero for a state of zeros. (default: :obj:`False`)

    Returns:
        The energy ``[...]``, or ``[..., graphs]`` for a batch.
    """
    check_features(x)
    check_edges(edge_index, x.size(-2))
    x, graph, graphs = in_single_precision(x), graph_of_nodes(x, batch), count(batch)
    if relative:  # squares of a state that has all but vanished would be zero
        x = x / largest_per_graph(x, graph, graphs).clamp(min=torch.finfo(x.dtype).tiny)[..., graph, None]
    seen = x
    if by_degree:
        seen = x / (1 + degree(edge_index[1], x.size(-2), dtype=x.dtype)).sqrt().unsqueeze(-1)
    energy = sum_per_graph(_squared_differences(seen, edge_index), graph[edge_index[1]], graphs)
    size = sum_per_graph(x.square().sum(-1), graph, graphs) if relative else graph.bincount(minlength=graphs)
    return answer(torch.where(size == 0, 0.0, energy / size), batch)  # NaN stays NaN: it is not smooth


def coupled_energy(x: Tensor, y: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
    r"""The energy that Proposition 1 conserves, in the form that is conserved.

    .. math::
        \mathscr{E} = \sum_i \|Y_i\|^2 + \frac{1}{2} \sum_i \sum_{j \in \mathcal{N}_i} A_{ij} \|X_i - X_j\|^2

    It is constant in time for :math:`\sigma = \mathrm{id}`, :math:`\alpha = 0`, :math:`\gamma = 1` and a symmetric A
    whose rows sum to one. The paper prints it without the factor ½, which counts every undirected edge twice; that
    sum is not conserved.

    Args:
        x (torch.Tensor): Positions, ``[..., nodes, channels]``.
        y (torch.Tensor): Velocities, ``[..., nodes, channels]``.
        edge_index (torch.Tensor): The edges, both directions of each, ``[2, edges]``.
        edge_weight (torch.Tensor): The entries of A, ``[edges]``.
    """
    potential = (edge_weight * _squared_differences(x, edge_index)).sum(-1)
    return y.square().sum((-1, -2)) + potential / 2


def energy_balance(
    xs: Tensor, ys: Tensor, times: Tensor, edge_index: Tensor, edge_weight: Tensor, alpha: float
) -> tuple[Tensor, Tensor]:
    r"""Both sides of the identity of Proposition 4 along a trajectory of the linearised system.

    .. math::
        \frac{1}{v}\mathscr{E}(t) = \frac{1}{v}\mathscr{E}(0) e^{-2\alpha t}
        + \frac{\alpha}{v} \int_0^t \sum_{i,j} A_{ij} \|X_j - X_i\|^2 e^{2\alpha(s-t)} ds
        + \frac{1}{v} \int_0^t \sum_{i,j} A_{ij} (Y_i + Y_j)^\top (X_j - X_i) e^{2\alpha(s-t)} ds

    for :math:`X'' = A X - X - \alpha X'` with rows of A that sum to one. This is eq. (ebal1) with the factor ½ on every
    edge sum that the printed form lacks, the sums over :math:`A_{ij} \pm A_{ji}` merged by symmetry. The integrals
    are taken by the trapezoidal rule.

    Args:
        xs (torch.Tensor): Positions at the times, ``[times, nodes, channels]``.
        ys (torch.Tensor): Velocities at the times, ``[times, nodes, channels]``.
        times (torch.Tensor): The times, ``[times]``, starting at 0.
        edge_index (torch.Tensor): The edges: ``(j, i)`` for :math:`A_{ij}`, ``[2, edges]``.
        edge_weight (torch.Tensor): The entries of A, ``[edges]``.
        alpha (float): The damping.

    Returns:
        The left and the right side at all times, ``[times]`` each.
    """
    source, target = edge_index
    difference = xs[:, source] - xs[:, target]  # X_j - X_i, [times, edges, channels]
    production = alpha * (edge_weight * difference.square().sum(-1)).sum(-1)
    exchange = (edge_weight * ((ys[:, source] + ys[:, target]) * difference).sum(-1)).sum(-1)
    growth = torch.exp(2 * alpha * times)
    integral = torch.zeros_like(times)
    integral[1:] = torch.cumulative_trapezoid(growth * (production + exchange), times)
    energy = coupled_energy(xs, ys, edge_index, edge_weight)
    nodes = xs.size(-2)
    return energy / nodes, (energy[0] + integral) / growth / nodes


def _squared_differences(x: Tensor, edge_index: Tensor) -> Tensor:
    source, target = edge_index
    return (x[..., source, :] - x[..., target, :]).square().sum(-1)  # [..., edges]
