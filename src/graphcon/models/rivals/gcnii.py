from torch import Tensor
from torch.nn import ModuleList
from torch_geometric.nn.conv import GCN2Conv

from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, Edges, State


class GCNII(Core):
    r"""GCN with initial residual and identity mapping (`Chen et al., 2020 <https://arxiv.org/abs/2007.02133>`_).

    .. math::
        X_n = \sigma\big(((1 - \alpha) \hat A X_{n-1} + \alpha X_0)\,((1 - \beta_n) I + \beta_n W_n)\big),
        \qquad \beta_n = \log(\theta / n + 1)

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout before every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        alpha (float, optional): The share of the first state. (default: :obj:`0.1`)
        theta (float, optional): How fast the weights fade with depth, the paper's lambda. (default: :obj:`0.5`)
        variant (bool, optional): GCNII*, which has weights of its own for the first state. (default: :obj:`False`)
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
        theta: float = 0.5,
        variant: bool = False,
        memory: str = "auto",
    ):
        super().__init__(channels, num_layers, dropout, act, memory)
        self.layers = ModuleList(
            GCN2Conv(channels, alpha, theta, layer=n, shared_weights=not variant) for n in range(1, num_layers + 1)
        )

    def begin(self, x: Tensor) -> State:
        return x, x

    def step(self, n: int, graph: Edges, *state: Tensor) -> State:
        x, start = state
        return self.act(self.layers[n](self.dropout(x), start, graph.index, **graph.given)), start


CARDS = (
    rival(
        "gcnii",
        GCNII,
        "GCN with a share of the first state and fading weights",
        "Chen et al. 2020, arXiv:2007.02133",
    ),
)
