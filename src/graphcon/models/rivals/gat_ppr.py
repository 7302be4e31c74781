import math
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import coo_array, diags_array
from torch import Tensor

from graphcon import couplings
from graphcon.models.card import rival
from graphcon.models.core import Activation, Edges
from graphcon.models.rivals._once import per_edge
from graphcon.models.stack import Stack

# Columns of the PageRank matrix that are worked on at once, and how exactly.
_BLOCK, _TOLERANCE = 512, 1e-6


class GATPPR(Stack):
    r"""GAT on a graph of personalised PageRank (`Gasteiger et al., 2019 <https://arxiv.org/abs/1911.05485>`_).

    .. math::
        S = \alpha (I - (1 - \alpha) D^{-1/2} (A + I) D^{-1/2})^{-1}

    Every node attends to the ``k`` nodes of the largest entries in its column of S, in place of its neighbours; the
    scores of the attention get :math:`\log S_{ij}` times a learned number, one per head.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout after every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        alpha (float, optional): The probability of going back to the start. (default: :obj:`0.15`)
        k (int, optional): How many nodes a node attends to. (default: :obj:`64`)
        heads (int, optional): Attention heads. (default: :obj:`None`, 4 where they divide the channels)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        alpha: float = 0.15,
        k: int = 64,
        heads: int | None = None,
        memory: str = "auto",
    ):
        options = {"heads": heads, "edge_dim": 1, "add_self_loops": False}  # S has its diagonal
        layers = [couplings.build("gat", channels, **options) for _ in range(num_layers)]
        super().__init__(layers, channels, num_layers, dropout, act, memory=memory)
        if k < 1:
            raise ValueError(f"k={k}: a node must attend to 1 node or more")
        if not 0 < alpha < 1:
            raise ValueError(f"alpha={alpha}: a walk goes back to its start with a probability between 0 and 1")
        self.alpha, self.k = alpha, k
        self.takes = frozenset()  # features of the old edges say nothing of the new

    def prepare(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Edges:
        key = ("ppr", self.alpha, self.k)
        build = partial(pagerank_edges, alpha=self.alpha, k=self.k)
        near, rank = per_edge(key, edge_index, x.size(0), build)
        return Edges(near, {"edge_attr": rank.clamp(min=_TOLERANCE).log().to(x.dtype).unsqueeze(-1)})


def pagerank_edges(edges: np.ndarray, nodes: int, alpha: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` largest entries in every column of the PageRank matrix S, as edges ``[2, edges]`` with values."""
    ones = np.ones(edges.shape[1], np.float32)
    matrix = coo_array((ones, (edges[0], edges[1])), shape=(nodes, nodes)).tocsr()
    matrix.setdiag(1.0)
    scale = diags_array(matrix.sum(0) ** -0.5)
    matrix = (scale @ matrix @ scale * (1 - alpha)).tocsr()
    weights = _weights(1 - alpha, symmetric=abs(matrix - matrix.T).max() < _TOLERANCE)
    k = min(k, nodes)
    found, values = [], []
    for first in range(0, nodes, _BLOCK):
        columns = np.arange(first, min(first + _BLOCK, nodes))
        start = np.zeros((nodes, len(columns)), np.float32)
        start[columns, np.arange(len(columns))] = alpha
        rank, before = start, np.zeros_like(start)
        for weight in weights:
            rank, before = before + weight * (matrix @ rank + start - before), rank
        best = np.argpartition(rank, nodes - k, axis=0)[nodes - k :]  # [k, columns]
        found.append(np.stack([best.T.ravel(), np.repeat(columns, k)]))
        values.append(np.take_along_axis(rank, best, axis=0).T.ravel())
    return np.concatenate(found, axis=1), np.concatenate(values)


def _weights(radius: float, symmetric: bool) -> list[np.float32]:
    """By how much every step goes on from the one before the last, for a matrix of that spectral radius.

    Steps of 1 are those of the power series. Chebyshev's need the square root of their number, and real eigenvalues.
    """
    if not symmetric:
        return [np.float32(1)] * math.ceil(math.log(_TOLERANCE) / math.log(radius))
    number = math.ceil(math.acosh(1 / _TOLERANCE) / math.acosh(1 / radius))
    weights = [1.0, 1 / (1 - radius**2 / 2)]
    while len(weights) < number:
        weights.append(1 / (1 - radius**2 * weights[-1] / 4))
    return [np.float32(weight) for weight in weights]


CARDS = (
    rival(
        "gat-ppr",
        GATPPR,
        "GAT on the nearest nodes by personalised PageRank",
        "Gasteiger et al. 2019, arXiv:1911.05485",
    ),
)
