from typing import Any

from torch import Tensor
from torch.nn import ModuleList
from torch_geometric.nn.norm import PairNorm as PairNormalization

from graphcon import couplings
from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, Edges, State, taken_by


class PairNorm(Core):
    r"""A stack whose states keep their total distance (`Zhao and Akoglu, 2020 <https://arxiv.org/abs/1909.12223>`_).

    .. math::
        X_n = \sigma(\mathrm{PairNorm}(F_n(X_{n-1}))), \qquad
        \mathrm{PairNorm}(H)_i = s \frac{H_i - \bar H}{\sqrt{\frac1v \sum_j \|H_j - \bar H\|^2}}

    The mean :math:`\bar H` and the sum are those of the graph that a node is of.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout after every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        scale (float, optional): The size s. (default: :obj:`1.0`)
        scale_individually (bool, optional): PairNorm-SI, which divides by every node's own length. (default:
            :obj:`False`)
        coupling (str, optional): The layer by name. (default: :obj:`"gcn"`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    needs = ("batch",)

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        scale: float = 1.0,
        scale_individually: bool = False,
        coupling: str = "gcn",
        memory: str = "auto",
    ):
        super().__init__(channels, num_layers, dropout, act, memory)
        self.layers = ModuleList(couplings.build(coupling, channels) for _ in range(num_layers))
        self.takes |= taken_by(self.layers)
        self.norm = PairNormalization(scale, scale_individually)

    def prepare(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, **kwargs: Any) -> Any:
        return Edges(edge_index, kwargs), batch

    def step(self, n: int, graph: Any, *state: Tensor) -> State:
        edges, batch = graph
        out = self.layers[n](state[0], edges.index, **edges.given)
        return (self.dropout(self.act(self.norm(out, batch))),)


CARDS = (
    rival(
        "pairnorm",
        PairNorm,
        "a stack whose states keep their total distance",
        "Zhao, Akoglu 2020, arXiv:1909.12223",
    ),
)
