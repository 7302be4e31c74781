from typing import Any

from torch import Tensor

from graphcon._validation import check_share
from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, Edges, State
from graphcon.models.rivals._propagation import gcn_edges, spread


class APPNP(Core):
    r"""Predict, then propagate (`Gasteiger et al., 2019 <https://arxiv.org/abs/1810.05997>`_).

    .. math::
        Z_n = (1 - \alpha)\, \hat A Z_{n-1} + \alpha Z_0, \qquad \hat A = D^{-1/2} (A + I) D^{-1/2}

    The steps have no weights, so what the paper predicts before them is here the encoder and the decoder.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number K of steps.
        dropout (float, optional): Dropout on the edges of every step. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation, of the encoder. (default: :obj:`"relu"`)
        alpha (float, optional): The probability of going back to the start. (default: :obj:`0.1`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    needs = ("edge_weight",)

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        alpha: float = 0.1,
        memory: str = "auto",
    ):
        super().__init__(channels, num_layers, dropout, act, memory)
        self.alpha = check_share("alpha", alpha)

    def prepare(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Edges:
        return gcn_edges(x, edge_index, **kwargs)

    def begin(self, x: Tensor) -> State:
        return x, x

    def step(self, n: int, graph: Edges, *state: Tensor) -> State:
        z, start = state
        weight = self.dropout(graph.given["edge_weight"])
        return (1 - self.alpha) * spread(z, graph.index, weight) + self.alpha * start, start


CARDS = (
    rival(
        "appnp",
        APPNP,
        "a network for every node, then averages that keep a share of the start",
        "Gasteiger et al. 2019, arXiv:1810.05997",
        exceptions={"reset": "its steps have no weights: all are in the encoder and the decoder"},
    ),
)
