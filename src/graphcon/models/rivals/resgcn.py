from typing import cast

from torch import Tensor
from torch.nn import LayerNorm, Module, ModuleList
from torch_geometric.nn.models import DeepGCNLayer

from graphcon import couplings
from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, Edges, State, taken_by


class ResGCN(Core):
    r"""Residual connections and layer normalisation, as in DeeperGCN (`Li et al., 2020
    <https://arxiv.org/abs/2006.07739>`_).

    .. math::
        X_n = X_{n-1} + F_n(\mathrm{dropout}(\sigma(\mathrm{norm}(X_{n-1})))), \qquad
        \mathrm{out} = \sigma(\mathrm{norm}(X_N))

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout before every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
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
        coupling: str = "gcn",
        memory: str = "auto",
    ):
        super().__init__(channels, num_layers, dropout, act, memory)
        layers = [couplings.build(coupling, channels) for _ in range(num_layers)]
        self.blocks = ModuleList(
            DeepGCNLayer(layer, LayerNorm(channels), cast(Module, self.act), "res+", self.dropout.p) for layer in layers
        )
        self.norm = LayerNorm(channels)
        self.takes |= taken_by(layers)

    def step(self, n: int, graph: Edges, *state: Tensor) -> State:
        return (self.blocks[n](state[0], graph.index, **graph.given),)

    def end(self, *state: Tensor) -> Tensor:
        return self.act(self.norm(state[0]))


CARDS = (
    rival(
        "resgcn",
        ResGCN,
        "residual connections and layer normalisation",
        "Li et al. 2020, arXiv:2006.07739",
        exceptions={"trajectory": "what goes to the decoder is the last state normalised and activated"},
    ),
)
