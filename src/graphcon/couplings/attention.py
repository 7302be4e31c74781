import math
from typing import Optional

import torch
from torch import Tensor
from torch.nn import Linear, Parameter
from torch_geometric.nn import inits
from torch_geometric.nn.conv import MessagePassing
from torch_geometric.typing import OptTensor
from torch_geometric.utils import add_remaining_self_loops, softmax

from graphcon.couplings._adjacency import edges_of


class DotProductConv(MessagePassing):
    r"""The transformer attention of the paper's GraphCON-Tran: scaled dot products over the 1-neighbourhood.

    .. math::
        F(X) = \frac{1}{H} \sum_{h=1}^{H} A_h(X)\, X W + b, \qquad
        A_h(X)_{ij} = \operatorname{softmax}_{j \in \mathcal{N}_i \cup \{i\}}
        \frac{(X_i Q_h)^\top (X_j K_h)}{\sqrt{d}}

    The heads are averaged as attention matrices, so A is right-stochastic as eq. (9) of the paper asks, and one map W
    carries the values (`GRAND <https://arxiv.org/abs/2106.10934>`_, whose propagation layer this is, has none).
    PyG's ``TransformerConv`` differs: values and a skip connection per head, no self-loops.

    Args:
        in_channels (int): Size of each input sample.
        out_channels (int): Size of each output sample.
        heads (int, optional): Number of attention matrices to average. (default: :obj:`4`)
        key_channels (int, optional): Size d of a query and a key. (default: about ``in_channels / heads``)
        dropout (float, optional): Dropout on the attention coefficients. (default: :obj:`0.0`)
        add_self_loops (bool, optional): Lets every node attend to itself. (default: :obj:`True`)
        values (bool, optional): If :obj:`False`, leaves W out. (default: :obj:`True`)
        bias (bool, optional): If :obj:`False`, leaves b out. (default: :obj:`True`)
        **kwargs: Arguments of :class:`torch_geometric.nn.conv.MessagePassing`.

    Shapes:
        - **input:** node features ``[nodes, in_channels]``, edge indices ``[2, edges]``
        - **output:** ``[nodes, out_channels]``
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int = 4,
        key_channels: int | None = None,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        values: bool = True,
        bias: bool = True,
        **kwargs,
    ):
        super().__init__(aggr="add", node_dim=0, **kwargs)
        if not values and in_channels != out_channels:
            raise ValueError(
                f"values=False keeps the {in_channels} channels of the input, but out_channels={out_channels}: "
                f"use out_channels={in_channels}, or values=True"
            )
        self.in_channels, self.out_channels, self.heads = in_channels, out_channels, heads
        self.key_channels = key_channels or math.ceil(in_channels / heads)
        self.dropout, self.add_self_loops = dropout, add_self_loops
        self.lin_query = Linear(in_channels, heads * self.key_channels)
        # A bias of the keys would shift all scores of a node alike, which the softmax does not see.
        self.lin_key = Linear(in_channels, heads * self.key_channels, bias=False)
        self.lin_value = Linear(in_channels, out_channels, bias=False) if values else None
        self.bias = Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        for lin in (self.lin_query, self.lin_key, self.lin_value):
            if lin is not None:
                inits.glorot(lin.weight)
                inits.zeros(lin.bias)
        inits.zeros(self.bias)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Runs the layer on ``x [nodes, in_channels]`` and ``edge_index [2, edges]``."""
        value = x if self.lin_value is None else self.lin_value(x)
        edge_index, attention = self.attention(x, edges_of(edge_index))
        out = self.propagate(edge_index, value=value, attention=attention, size=(x.size(0), x.size(0)))
        return out if self.bias is None else out + self.bias

    def attention(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """The edges, with self-loops where they are wanted, and the entries of A on them, ``[edges]``."""
        query = self.lin_query(x).view(-1, self.heads, self.key_channels)
        key = self.lin_key(x).view(-1, self.heads, self.key_channels)
        if self.add_self_loops:
            edge_index, _ = add_remaining_self_loops(edge_index, num_nodes=x.size(0))
        return edge_index, self.edge_updater(edge_index, query=query, key=key, size=(x.size(0), x.size(0)))

    def edge_update(
        self,
        query_i: Tensor,
        key_j: Tensor,
        index: Tensor,
        ptr: OptTensor,
        size_i: Optional[int],  # noqa: UP045  # PyG's inspector reads no other spelling
    ) -> Tensor:
        score = (query_i * key_j).sum(-1) / math.sqrt(self.key_channels)  # [edges, heads]
        attention = softmax(score, index, ptr, size_i)
        return torch.nn.functional.dropout(attention, self.dropout, self.training).mean(-1)  # [edges]

    def message(self, value_j: Tensor, attention: Tensor) -> Tensor:
        return attention.unsqueeze(-1) * value_j

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, heads={self.heads})"
