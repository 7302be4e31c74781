import torch
from torch import Tensor
from torch_geometric.utils import scatter

from graphcon import couplings, kernels
from graphcon._validation import check_number
from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, Edges, State, taken_by


class G2(Core):
    r"""Gradient gating (`Rusch et al., 2023 <https://arxiv.org/abs/2210.00513>`_): a node among its like stays.

    .. math::
        X_n &= (1 - \tau) \odot X_{n-1} + \tau \odot \sigma(F(X_{n-1})) \\
        \tau_i &= \tanh\Big(\sum_{j \in \mathcal{N}_i} |\hat\tau_j - \hat\tau_i|^p\Big), \qquad
        \hat\tau = \sigma(\hat F(X_{n-1}))

    All steps share F and :math:`\hat F`, as the paper's do.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of steps.
        dropout (float, optional): Dropout on the force. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        p (float, optional): The power of the differences. (default: :obj:`2.0`)
        coupling (str, optional): The layers F and :math:`\hat F` by name. (default: :obj:`"gcn"`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        p: float = 2.0,
        coupling: str = "gcn",
        memory: str = "auto",
    ):
        super().__init__(channels, num_layers, dropout, act, memory)
        self.p = check_number("p", p, positive=True)
        self.layer, self.gate = (couplings.build(coupling, channels) for _ in range(2))
        self.takes |= taken_by([self.layer])

    def step(self, n: int, graph: Edges, *state: Tensor) -> State:
        (x,) = state
        force = self.dropout(self.act(kernels.call(self.layer, x, graph.index, **graph.given)))
        signal = self.act(kernels.call(self.gate, x, graph.index, **graph.given))
        source, target = graph.index
        difference = (signal[source] - signal[target]).abs() ** self.p
        tau = torch.tanh(scatter(difference, target, 0, x.size(0), "sum"))
        return ((1 - tau) * x + tau * force,)


CARDS = (
    rival(
        "g2",
        G2,
        "gradient gating: a node among its like stays as it is",
        "Rusch et al. 2023, arXiv:2210.00513",
    ),
)
