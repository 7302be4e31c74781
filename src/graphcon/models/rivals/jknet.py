from typing import Literal

from torch import Tensor
from torch_geometric.nn.models import JumpingKnowledge

from graphcon import couplings
from graphcon._validation import check_choice
from graphcon.models.card import rival
from graphcon.models.core import Activation, Edges, State
from graphcon.models.stack import Stack


class JKNet(Stack):
    r"""Jumping knowledge (`Xu et al., 2018 <https://arxiv.org/abs/1806.03536>`_): every layer reaches the output.

    .. math::
        X_n = \sigma(F_n(X_{n-1})), \qquad \mathrm{out} = \mathrm{AGGREGATE}(X_1, \ldots, X_N)

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout after every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        mode (str, optional): How they are put together: :obj:`"cat"` side by side, :obj:`"max"` by the largest,
            :obj:`"lstm"` by attention over the layers. (default: :obj:`"cat"`)
        coupling (str, optional): The layer by name. (default: :obj:`"gcn"`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        mode: Literal["cat", "max", "lstm"] = "cat",
        coupling: str = "gcn",
        memory: str = "auto",
    ):
        layers = [couplings.build(coupling, channels) for _ in range(num_layers)]
        super().__init__(layers, channels, num_layers, dropout, act, memory=memory)
        self.jump = JumpingKnowledge(check_choice("mode", mode, ["cat", "max", "lstm"]), channels, num_layers)
        self.out_channels = num_layers * channels if mode == "cat" else channels

    def step(self, n: int, graph: Edges, *state: Tensor) -> State:
        return *super().step(n, graph, state[0]), *state

    def end(self, *state: Tensor) -> Tensor:
        return self.jump(list(reversed(state[:-1])))


CARDS = (
    rival(
        "jknet",
        JKNet,
        "a stack whose every layer reaches the output",
        "Xu et al. 2018, arXiv:1806.03536",
        exceptions={"trajectory": "what goes to the decoder is made of all states, not of the last alone"},
    ),
)
