from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy.sparse import coo_array
from torch import Tensor

from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, Edges, State
from graphcon.models.rivals._once import per_edge
from graphcon.models.rivals._propagation import gcn_edges, spread

_MOST_ROUNDS = 8


class H2GCN(Core):
    r"""Ego and neighbours apart, higher neighbourhoods, all rounds kept (`Zhu et al., 2020
    <https://arxiv.org/abs/2006.11468>`_).

    .. math::
        R_n = \big[\bar A_1 R_{n-1} \,\|\, \bar A_2 R_{n-1}\big], \qquad
        \mathrm{out} = \mathrm{dropout}\big([R_0 \,\|\, R_1 \,\|\, \cdots \,\|\, R_N]\big)

    :math:`\bar A_1` and :math:`\bar A_2` are the neighbours and the nodes at distance exactly two, without the node
    itself, normalised symmetrically. A round has no weights, and twice the channels of the one before.

    Args:
        channels (int): Size of the first state.
        num_layers (int): The number of rounds, 1 or 2 in the paper.
        dropout (float, optional): Dropout on the output. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation, of the encoder. (default: :obj:`"relu"`)
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
        if num_layers > _MOST_ROUNDS:
            raise ValueError(
                f"num_layers={num_layers}: every round of H2GCN doubles the channels, so there are {_MOST_ROUNDS} at "
                "most; the paper has 1 or 2"
            )
        super().__init__(channels, num_layers, dropout, act, memory)
        self.out_channels = (2 ** (num_layers + 1) - 1) * channels

    def prepare(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> tuple[Edges, Edges]:
        hops, distance = per_edge("two-hop", edge_index, x.size(0), two_hops)
        one, two = hops[:, distance == 1], hops[:, distance == 2]
        return gcn_edges(x, one, self_loops=False), gcn_edges(x, two, self_loops=False)

    def step(self, n: int, graph: tuple[Edges, Edges], *state: Tensor) -> State:
        pulled = [spread(state[0], edges.index, **edges.given) for edges in graph]
        return torch.cat(pulled, dim=-1), *state

    def end(self, *state: Tensor) -> Tensor:
        return self.dropout(torch.cat(state[::-1], dim=-1))

    def states(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Iterator[Tensor]:
        """Yields the mean of the blocks of every :math:`R_n`, ``[nodes, channels]``."""
        for state in super().states(x, edge_index, **kwargs):
            yield state.unflatten(-1, (-1, self.channels)).mean(-2)


def two_hops(edges: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of nodes at distance 1 and 2 in a graph taken as undirected, and that distance."""
    matrix = coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(nodes, nodes)).tocsr()
    one = ((matrix + matrix.T) > 0).astype(np.int8)
    one.setdiag(0)
    one.eliminate_zeros()
    two = (one.astype(np.int64) @ one.astype(np.int64) > 0).astype(np.int8)
    two.setdiag(0)
    two = two - two.multiply(one)
    two.eliminate_zeros()
    pairs = [np.stack(part.nonzero()).astype(np.int64) for part in (one, two)]
    return np.concatenate(pairs, axis=1), np.repeat([1, 2], [pair.shape[1] for pair in pairs])


CARDS = (
    rival(
        "h2gcn",
        H2GCN,
        "neighbours, those at distance two and the node itself kept apart",
        "Zhu et al. 2020, arXiv:2006.11468",
        exceptions={
            "reset": "its rounds have no weights: all are in the encoder and the decoder",
            "trajectory": "its states double in width, and what goes to the decoder is all of them",
        },
    ),
)
