from typing import Optional

import torch
from torch import Tensor
from torch.nn import Linear, ModuleList, Parameter
from torch_geometric.nn import inits
from torch_geometric.nn.conv import MessagePassing
from torch_geometric.typing import OptTensor
from torch_geometric.utils import add_remaining_self_loops, softmax

from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, Edges, State


class GeniePathConv(MessagePassing):
    r"""The adaptive breadth of GeniePath: attention over the neighbours.

    .. math::
        H_i = \tanh\Big(\sum_{j \in \mathcal{N}_i \cup \{i\}} a_{ij} X_j W\Big), \qquad
        a_{ij} = \operatorname{softmax}_j\, v^\top \tanh(X_i W_s + X_j W_d)

    Args:
        in_channels (int): Size of each input sample.
        out_channels (int): Size of each output sample.
    """

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__(aggr="add")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.lin_target = Linear(in_channels, out_channels, bias=False)
        self.lin_source = Linear(in_channels, out_channels, bias=False)
        self.lin = Linear(in_channels, out_channels, bias=False)
        self.v = Parameter(torch.empty(1, out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        for lin in (self.lin_target, self.lin_source, self.lin):
            lin.reset_parameters()
        inits.glorot(self.v)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Runs the layer on ``x [nodes, in_channels]`` and ``edge_index [2, edges]``."""
        edge_index, _ = add_remaining_self_loops(edge_index, num_nodes=x.size(0))
        score = (self.lin_source(x), self.lin_target(x))
        attention = self.edge_updater(edge_index, score=score, size=(x.size(0), x.size(0)))
        out = self.propagate(edge_index, value=self.lin(x), attention=attention, size=(x.size(0), x.size(0)))
        return torch.tanh(out)

    def edge_update(
        self,
        score_j: Tensor,
        score_i: Tensor,
        index: Tensor,
        ptr: OptTensor,
        size_i: Optional[int],  # noqa: UP045  # PyG's inspector reads no other spelling
    ) -> Tensor:
        return softmax((torch.tanh(score_i + score_j) * self.v).sum(-1), index, ptr, size_i)

    def message(self, value_j: Tensor, attention: Tensor) -> Tensor:
        return attention.unsqueeze(-1) * value_j


class GeniePath(Core):
    r"""Adaptive receptive paths (`Liu et al., 2019 <https://arxiv.org/abs/1802.00910>`_).

    Breadth is :class:`GeniePathConv`; depth is a gated memory C of every node:

    .. math::
        i, f, o &= \operatorname{sigmoid}(H_n W_{i,f,o}), \qquad \tilde C = \tanh(H_n W_c) \\
        C_n &= f \odot C_{n-1} + i \odot \tilde C, \qquad X_n = o \odot \tanh(C_n)

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout before every layer. (default: :obj:`0.0`)
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
        super().__init__(channels, num_layers, dropout, act, memory)
        self.breadth = ModuleList(GeniePathConv(channels, channels) for _ in range(num_layers))
        self.depth = ModuleList(Linear(channels, 4 * channels) for _ in range(num_layers))

    def begin(self, x: Tensor) -> State:
        return x, torch.zeros_like(x)

    def step(self, n: int, graph: Edges, *state: Tensor) -> State:
        x, memory = state
        gates = self.depth[n](self.breadth[n](self.dropout(x), graph.index))
        take, keep, show, new = gates.chunk(4, dim=-1)
        memory = torch.sigmoid(keep) * memory + torch.sigmoid(take) * torch.tanh(new)
        return torch.sigmoid(show) * torch.tanh(memory), memory


CARDS = (
    rival(
        "geniepath",
        GeniePath,
        "attention over neighbours, gated memory over depth",
        "Liu et al. 2019, arXiv:1802.00910",
    ),
)
