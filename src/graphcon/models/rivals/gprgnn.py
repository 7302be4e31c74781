from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import Parameter

from graphcon._validation import check_choice, check_share
from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, Edges, State
from graphcon.models.rivals._propagation import gcn_edges, spread


class GPRGNN(Core):
    r"""Generalised PageRank with learned weights (`Chien et al., 2021 <https://arxiv.org/abs/2006.07988>`_).

    .. math::
        Z = \sum_{k=0}^{K} \gamma_k \hat A^k X_0, \qquad \hat A = D^{-1/2} (A + I) D^{-1/2}

    The weights :math:`\gamma` may become negative, which sharpens where APPNP smooths.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number K of steps.
        dropout (float, optional): Dropout before the first step. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation, of the encoder. (default: :obj:`"relu"`)
        alpha (float, optional): What the weights start from. (default: :obj:`0.1`)
        Init (str, optional): How they start: :obj:`"PPR"` as :math:`\alpha (1-\alpha)^k` with the rest in the last,
            :obj:`"NPPR"` as :math:`\alpha^k` over their sum, :obj:`"SGC"` with all in the last, :obj:`"Random"` drawn
            and scaled to sum to 1 in absolute value. (default: :obj:`"PPR"`)
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
        Init: Literal["PPR", "NPPR", "SGC", "Random"] = "PPR",
        memory: str = "auto",
    ):
        super().__init__(channels, num_layers, dropout, act, memory)
        self.alpha = check_share("alpha", alpha)
        self.Init = check_choice("Init", Init, ["PPR", "NPPR", "SGC", "Random"])
        self.gamma = Parameter(torch.empty(num_layers + 1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Starts the weights as ``Init`` says."""
        k = torch.arange(self.steps + 1)
        match self.Init:
            case "PPR":
                gamma = self.alpha * (1 - self.alpha) ** k
                gamma[-1] = (1 - self.alpha) ** self.steps
            case "NPPR":
                gamma = self.alpha**k
            case "SGC":
                gamma = (k == self.steps).float()
            case _:
                gamma = torch.rand(self.steps + 1) * 2 - 1
        scale = 1.0 if self.Init == "PPR" else gamma.abs().sum()
        self.gamma.data.copy_(gamma / scale)

    def prepare(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Edges:
        return gcn_edges(x, edge_index, **kwargs)

    def begin(self, x: Tensor) -> State:
        x = self.dropout(x)
        return x, self.gamma[0] * x

    def step(self, n: int, graph: Edges, *state: Tensor) -> State:
        x, total = state
        x = spread(x, graph.index, **graph.given)
        return x, total + self.gamma[n + 1] * x

    def end(self, *state: Tensor) -> Tensor:
        return state[1]


CARDS = (
    rival(
        "gprgnn",
        GPRGNN,
        "a learned sum of powers of the averaging matrix",
        "Chien et al. 2021, arXiv:2006.07988",
        exceptions={
            "reset": "the weights of its steps start from given values, not from random ones",
            "trajectory": "what goes to the decoder is a sum of all states, not the last",
        },
    ),
)
