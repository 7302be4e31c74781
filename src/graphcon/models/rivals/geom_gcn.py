from typing import Any

import numpy as np
import torch
from scipy.linalg import eigh
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform
from torch import Tensor
from torch.nn import Linear, Module
from torch_geometric.utils import scatter

from graphcon.models.card import rival
from graphcon.models.core import Activation, Edges
from graphcon.models.rivals._once import per_edge
from graphcon.models.rivals._propagation import gcn_edges
from graphcon.models.stack import Stack

# All distances between nodes are held at once.
_MOST_NODES = 5000
_RELATIONS = 4


class GeomGCNConv(Module):
    r"""The two-level layer of Geom-GCN: :math:`\big[e_{i,1} \,\|\, \cdots \,\|\, e_{i,8}\big]\,W`.

    Args:
        in_channels (int): Size of each input sample.
        out_channels (int): Size of each output sample.
    """

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.lin = Linear(2 * _RELATIONS * in_channels, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor, edge_type: Tensor) -> Tensor:
        """Runs the layer; ``edge_type [edges]`` tells neighbourhood and relation, as a number below 8."""
        source, target = edge_index
        kinds = 2 * _RELATIONS
        pulled = scatter(
            edge_weight.unsqueeze(-1) * x[source], target * kinds + edge_type, 0, x.size(0) * kinds, "sum"
        )  # fmt: skip
        return self.lin(pulled.view(x.size(0), -1))


class GeomGCN(Stack):
    r"""Geometric aggregation (`Pei et al., 2020 <https://arxiv.org/abs/2002.05287>`_).

    Nodes are placed in a plane. A node's neighbours in the graph, and those about as many that are nearest in the
    plane, are told apart by where they lie: upper or lower, left or right.

    .. math::
        e_{i,(s,r)} = \sum_{j \in \mathcal{N}^s_i,\; \tau(z_i, z_j) = r} \frac{X_j}{\sqrt{d_i d_j}}, \qquad
        X_n = \sigma\Big(\Big\|_{s,r}\, e_{i,(s,r)}\, W_n\Big)

    The plane is that of Isomap on distances in the graph, for every connected part (`isomap`); the paper has two
    other embeddings beside, struc2vec and Poincaré, which are not here.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout after every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        memory: str = "auto",
    ):
        layers = [GeomGCNConv(channels, channels) for _ in range(num_layers)]
        super().__init__(layers, channels, num_layers, dropout, act, memory=memory)
        self.takes = frozenset()

    def prepare(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Edges:
        index, kind = per_edge("geometric", edge_index, x.size(0), geometric_edges)
        weight = torch.empty(kind.shape, dtype=x.dtype, device=x.device)
        for of in (kind < _RELATIONS, kind >= _RELATIONS):
            weight[of] = gcn_edges(x, index[:, of], self_loops=False).given["edge_weight"]
        return Edges(index, {"edge_weight": weight, "edge_type": kind})


def geometric_edges(edges: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The neighbours in a connected graph and in the plane, with themselves, and the relation of each pair.

    The relation is below 4 for neighbours in the graph, 4 more for those in the plane. Two nodes are neighbours in the
    plane up to the distance at which there are as many such pairs as edges.
    """
    matrix = np.eye(nodes, dtype=bool)
    matrix[edges[0], edges[1]] = True
    plane = isomap(edges, nodes)
    distance = pdist(plane)
    count = np.unique(np.sort(edges[:, edges[0] != edges[1]], axis=0), axis=1).shape[1]
    radius = np.partition(distance, count - 1)[count - 1] if count else 0.0
    near = squareform(distance) <= radius * (1 + 1e-9)
    found = [np.stack(part.nonzero()) for part in (matrix, near)]
    pairs = np.concatenate(found, axis=1)
    offset = plane[pairs[0]] - plane[pairs[1]]
    relation = 2 * (offset[:, 0] > 1e-9) + (offset[:, 1] > 1e-9)
    return pairs, relation + np.repeat([0, _RELATIONS], [part.shape[1] for part in found])


def isomap(edges: np.ndarray, nodes: int) -> np.ndarray:
    """Places the nodes of a connected graph in the plane, ``[nodes, 2]``: classical scaling of its distances.

    An axis points to where it is longer, so the numbering of the nodes does not matter; one as long either way, or two
    of equal size, leave a choice to the numbering.
    """
    if nodes > _MOST_NODES:
        raise ValueError(
            f"geom-gcn places every connected part of a graph by the distances of all its pairs: {nodes} nodes, but "
            f"{_MOST_NODES} at most"
        )
    if nodes < 3:
        return np.zeros((nodes, 2))  # one node, or two that nothing tells apart
    matrix = coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(nodes, nodes)).tocsr()
    squares = shortest_path(matrix, directed=False, unweighted=True) ** 2
    centred = squares - squares.mean(0) - squares.mean(1, keepdims=True) + squares.mean()
    values, vectors = eigh(-centred / 2, subset_by_index=(nodes - 2, nodes - 1))
    sign = np.where((vectors**3).sum(0) < 0, -1.0, 1.0)
    return (sign * vectors * np.sqrt(values.clip(min=0)))[:, ::-1]


CARDS = (
    rival(
        "geom-gcn",
        GeomGCN,
        "neighbours in the graph and in a plane, told apart by direction",
        "Pei et al. 2020, arXiv:2002.05287",
    ),
)
