from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.sparse import coo_array, diags_array, eye_array
from scipy.sparse.linalg import eigsh
from torch import Tensor
from torch.nn import Linear, Module
from torch_geometric.utils import scatter

from graphcon.models.card import rival
from graphcon.models.core import Activation, Edges
from graphcon.models.rivals._once import per_node
from graphcon.models.stack import Stack

# Up to this many nodes all eigenvectors are found at once.
_DENSE = 1000


class Field(NamedTuple):
    """A direction along which neighbours are told apart: for each edge its share, signed and not, ``[edges]``."""

    signed: Tensor
    absolute: Tensor


class DGNConv(Module):
    r"""The directional layer: :math:`[\,X, \mathrm{mean}_j X_j, B_{av} X, |B_{dx} X|, \ldots]\, W`.

    Args:
        in_channels (int): Size of each input sample.
        out_channels (int): Size of each output sample.
        aggregators (tuple): Some of :obj:`"mean"`, :obj:`"sum"`, :obj:`"max"`, and of :obj:`"dirK-av"` and
            :obj:`"dirK-dx"` for the K-th direction.
    """

    def __init__(self, in_channels: int, out_channels: int, aggregators: tuple[str, ...]):
        super().__init__()
        self.in_channels, self.out_channels, self.aggregators = in_channels, out_channels, aggregators
        self.lin = Linear((1 + len(aggregators)) * in_channels, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor, fields: list[Field]) -> Tensor:
        """Runs the layer on ``x [nodes, in_channels]`` along the fields of ``edge_index [2, edges]``."""
        source, target = edge_index

        def pulled(weight: Tensor, values: Tensor) -> Tensor:
            return scatter(weight.unsqueeze(-1) * values, target, 0, x.size(0), "sum")

        parts = [x]
        for name in self.aggregators:
            if not name.startswith("dir"):
                parts.append(scatter(x[source], target, 0, x.size(0), name))
            elif name.endswith("-av"):
                parts.append(pulled(fields[_direction(name) - 1].absolute, x[source]))
            else:
                parts.append(pulled(fields[_direction(name) - 1].signed, x[source] - x[target]).abs())
        return self.lin(torch.cat(parts, dim=-1))


class DGN(Stack):
    r"""Directional graph networks (`Beani et al., 2021 <https://arxiv.org/abs/2010.02863>`_).

    Neighbours are told apart by how a low eigenvector :math:`\phi` of the graph's Laplacian changes towards them:

    .. math::
        \hat F_{ij} = \frac{\phi_j - \phi_i}{\sum_k |\phi_k - \phi_i| + \epsilon}, \qquad
        (B_{av} X)_i = \sum_j |\hat F_{ij}| X_j, \qquad (B_{dx} X)_i = \sum_j \hat F_{ij} (X_j - X_i)

    Eigenvectors are those of every connected part, without the constant one. Their sign does not matter; where an
    eigenvalue has several, which of them is taken depends on the numbering of the nodes, as in the paper.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout after every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        aggregators (tuple, optional): What is put side by side, see :class:`DGNConv`. (default:
            :obj:`("mean", "dir1-av", "dir1-dx")`)
        norm (str, optional): What normalises the output of a layer. (default: :obj:`"batch"`)
        residual (bool, optional): Adds the state to what a layer makes of it. (default: :obj:`True`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        aggregators: tuple[str, ...] = ("mean", "dir1-av", "dir1-dx"),
        norm: str = "batch",
        residual: bool = True,
        memory: str = "auto",
    ):
        for name in aggregators:
            if name not in ("mean", "sum", "max") and not _direction(name):
                raise ValueError(
                    f"aggregators: {name!r} is unknown; choose of 'mean', 'sum', 'max', and 'dir1-av', 'dir1-dx' with "
                    "any number of the direction"
                )
        layers = [DGNConv(channels, channels, aggregators) for _ in range(num_layers)]
        super().__init__(layers, channels, num_layers, dropout, act, norm=norm, residual=residual, memory=memory)
        self.directions = max(map(_direction, aggregators))

    def prepare(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Edges:
        count = self.directions
        phi = per_node(("eigenvectors", count), edge_index, x.size(0), partial(eigenvectors, count=count))
        source, target = edge_index
        fields = []
        for k in range(count):
            change = (phi[source, k] - phi[target, k]).to(x.dtype)
            total = scatter(change.abs(), target, 0, x.size(0), "sum")[target] + 1e-8
            fields.append(Field(change / total, change.abs() / total))
        return Edges(edge_index, {"fields": fields})


def eigenvectors(edges: np.ndarray, nodes: int, count: int) -> np.ndarray:
    """The lowest eigenvectors of the Laplacian of a connected graph after the constant one, ``[nodes, count]``.

    A graph of few nodes has no more of them than nodes; the rest are zero, and tell no neighbours apart.
    """
    matrix = coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(nodes, nodes)).tocsr()
    matrix = ((matrix + matrix.T) > 0).astype(float)
    matrix.setdiag(0)
    laplace = diags_array(matrix.sum(0)) - matrix
    if nodes <= _DENSE:
        _, vectors = np.linalg.eigh(laplace.toarray())
    else:  # the low end of L is the high end of 2 d I - L, where Lanczos' method is quick
        most = 2 * laplace.diagonal().max()
        _, vectors = eigsh(most * eye_array(nodes) - laplace, count + 1, which="LA", v0=np.arange(1.0, nodes + 1))
        vectors = vectors[:, ::-1]
    found = vectors[:, 1 : count + 1]
    return np.pad(found, ((0, 0), (0, count - found.shape[1])))


def _direction(name: str) -> int:
    """The number of the direction that an aggregator looks along, 0 if none."""
    number, dash, kind = name.removeprefix("dir").partition("-")
    return int(number) if name.startswith("dir") and dash and number.isdecimal() and kind in ("av", "dx") else 0


CARDS = (
    rival(
        "dgn",
        DGN,
        "neighbours told apart along eigenvectors of the Laplacian",
        "Beani et al. 2021, arXiv:2010.02863",
    ),
)
