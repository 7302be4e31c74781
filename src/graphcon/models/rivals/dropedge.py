from typing import Any

import torch
from torch import Tensor

from graphcon import couplings
from graphcon._validation import check_probability
from graphcon.models.card import rival
from graphcon.models.core import Activation, Edges, State
from graphcon.models.stack import Stack


class DropEdge(Stack):
    r"""A stack that learns on a random part of the edges (`Rong et al., 2020 <https://arxiv.org/abs/1907.10903>`_).

    .. math::
        X_n = \sigma(\mathrm{norm}_n(F_n(X_{n-1}, A_{\mathrm{drop}}))), \qquad A_{\mathrm{drop}} = A - A'

    where A' has a share p of the edges, drawn anew at every pass of training; both directions of an edge go together,
    and the layers normalise what is left. A trained network sees all edges.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout after every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        p (float, optional): The share of the edges that is dropped. (default: :obj:`0.5`)
        layerwise (bool, optional): Draws anew for every layer. (default: :obj:`False`)
        coupling (str, optional): The layer by name. (default: :obj:`"gcn"`)
        norm (str, optional): What normalises the output of a layer: :obj:`"none"`, :obj:`"batch"` or
            :obj:`"layer"`. (default: :obj:`"none"`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        p: float = 0.5,
        layerwise: bool = False,
        coupling: str = "gcn",
        norm: str = "none",
        memory: str = "auto",
    ):
        layers = [couplings.build(coupling, channels) for _ in range(num_layers)]
        super().__init__(layers, channels, num_layers, dropout, act, norm=norm, memory=memory)
        self.p, self.layerwise = check_probability("p", p), layerwise

    def prepare(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Edges:
        edges = Edges(edge_index, kwargs)
        return edges if self.layerwise else self.thin(edges)

    def step(self, n: int, graph: Edges, *state: Tensor) -> State:
        return super().step(n, self.thin(graph) if self.layerwise else graph, *state)

    def thin(self, edges: Edges) -> Edges:
        """A random part of the edges while training, all of them afterwards."""
        if not self.training or self.p == 0.0:
            return edges
        ends = torch.stack([edges.index.amin(0), edges.index.amax(0)])
        pairs, pair = torch.unique(ends, dim=1, return_inverse=True)
        kept = (torch.rand(pairs.size(1), device=pair.device) >= self.p)[pair]
        given = {name: value[kept] if name.startswith("edge_") else value for name, value in edges.given.items()}
        return Edges(edges.index[:, kept], given)


CARDS = (
    rival(
        "dropedge",
        DropEdge,
        "a stack that learns on a random part of the edges",
        "Rong et al. 2020, arXiv:1907.10903",
    ),
)
