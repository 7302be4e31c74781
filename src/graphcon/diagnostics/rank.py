"""How many directions the nodes' features fill."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from graphcon.diagnostics._per_graph import answer, check_features, count, graph_of_nodes, in_single_precision

Measure = Callable[[Tensor, int], Tensor]  # of the singular values and the number of nodes


def effective_rank(x: Tensor, batch: Tensor | None = None) -> Tensor:
    r"""The effective rank of Roy and Vetterli: the exponential of the entropy of the singular values.

    .. math::
        \mathrm{erank}(X) = \exp\Big(-\sum_k p_k \ln p_k\Big), \qquad p_k = \frac{\sigma_k}{\sum_l \sigma_l}

    Between 1 (all nodes on one line through the origin, as after smoothing) and the smaller of nodes and channels, and
    smooth in between. Zero for a state of zeros, NaN for one that is not finite.

    Args:
        x (torch.Tensor): Node features, ``[..., nodes, channels]``.
        batch (torch.Tensor, optional): The graph of every node, ``[nodes]``. (default: one graph)

    Returns:
        The rank ``[...]``, or ``[..., graphs]`` for a batch.
    """
    return _per_graph([_effective], x, batch)[0]


def numerical_rank(x: Tensor, batch: Tensor | None = None, tolerance: float | None = None) -> Tensor:
    r"""The number of singular values above ``tolerance`` times the largest.

    Args:
        x (torch.Tensor): Node features, ``[..., nodes, channels]``.
        batch (torch.Tensor, optional): The graph of every node, ``[nodes]``. (default: one graph)
        tolerance (float, optional): What counts as zero, relative to the largest singular value. (default: the larger
            of nodes and channels, times the rounding error of single or double precision; in half precision its own
            rounding error, if that is more)

    Returns:
        The rank ``[...]``, or ``[..., graphs]`` for a batch; NaN for a state that is not finite.
    """
    return _per_graph([partial(_counted, of=x, tolerance=tolerance)], x, batch)[0]


def both_ranks(x: Tensor, batch: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The effective and the numerical rank from one decomposition, which is what they cost."""
    effective, numerical = _per_graph([_effective, partial(_counted, of=x)], x, batch)
    return effective, numerical


def _counted(sigma: Tensor, nodes: int, of: Tensor, tolerance: float | None = None) -> Tensor:
    computing = max(nodes, of.size(-1)) * torch.finfo(sigma.dtype).eps
    told = torch.finfo(of.dtype).eps if of.is_floating_point() else 0.0
    limit = max(computing, told) if tolerance is None else tolerance
    return (sigma > limit * sigma[..., :1]).sum(-1).to(sigma.dtype)


def _effective(sigma: Tensor, nodes: int) -> Tensor:
    total = sigma.sum(-1, keepdim=True)
    p = sigma / total
    entropy = -torch.xlogy(p, p).sum(-1)
    return torch.where(total.squeeze(-1) > 0, entropy.exp(), 0.0)


def _per_graph(measures: Sequence[Measure], x: Tensor, batch: Tensor | None) -> list[Tensor]:
    check_features(x)
    x, graph = in_single_precision(x), graph_of_nodes(x, batch)
    ranks = [_of_finite(measures, x if batch is None else x[..., graph == g, :]) for g in range(count(batch))]
    return [answer(torch.stack(values, -1), batch) for values in zip(*ranks, strict=True)]


def _of_finite(measures: Sequence[Measure], x: Tensor) -> list[Tensor]:
    """The measures of the singular values, NaN where there are none because the state is not finite."""
    finite = x.isfinite().all(-1).all(-1)  # [...]
    sigma = torch.linalg.svdvals(torch.where(finite[..., None, None], x, 0.0))
    return [torch.where(finite, measure(sigma, x.size(-2)), torch.nan) for measure in measures]
