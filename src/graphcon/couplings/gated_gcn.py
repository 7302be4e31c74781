import torch
from torch import Tensor
from torch.nn import Linear
from torch_geometric.nn.conv import MessagePassing


class GatedGCNConv(MessagePassing):
    r"""GatedGCN (`Bresson and Laurent, 2017 <https://arxiv.org/abs/1711.07553>`_) without edge features.

    .. math::
        F(X)_i = A X_i + \frac{\sum_{j \in \mathcal{N}_i} \eta_{ij} \odot B X_j}
        {\sum_{j \in \mathcal{N}_i} \eta_{ij} + \epsilon}, \qquad \eta_{ij} = \operatorname{sigmoid}(D X_i + E X_j)

    The gates are normalised over the neighbours, as in the benchmarks the paper compares with; PyG's
    ``ResGatedGraphConv`` sums them as they are.

    Args:
        in_channels (int): Size of each input sample.
        out_channels (int): Size of each output sample.
        eps (float, optional): Keeps the quotient finite. (default: :obj:`1e-6`)
        bias (bool, optional): If :obj:`False`, the maps have no additive bias. (default: :obj:`True`)
        **kwargs: Arguments of :class:`torch_geometric.nn.conv.MessagePassing`.

    Shapes:
        - **input:** node features ``[nodes, in_channels]``, edge indices ``[2, edges]``
        - **output:** ``[nodes, out_channels]``
    """

    def __init__(self, in_channels: int, out_channels: int, eps: float = 1e-6, bias: bool = True, **kwargs):
        super().__init__(aggr="add", **kwargs)
        self.in_channels, self.out_channels, self.eps = in_channels, out_channels, eps
        self.lin_self = Linear(in_channels, out_channels, bias)
        self.lin_neighbor = Linear(in_channels, out_channels, bias)
        self.lin_gate_i = Linear(in_channels, out_channels, bias)
        self.lin_gate_j = Linear(in_channels, out_channels, bias=False)  # a bias would double the one of gate_i
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        for lin in (self.lin_self, self.lin_neighbor, self.lin_gate_i, self.lin_gate_j):
            lin.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Runs the layer on ``x [nodes, in_channels]`` and ``edge_index [2, edges]``."""
        sums = self.propagate(
            edge_index,
            neighbor=self.lin_neighbor(x),
            gate=(self.lin_gate_j(x), self.lin_gate_i(x)),
            size=(x.size(0), x.size(0)),
        )
        numerator, denominator = sums.chunk(2, dim=-1)
        return self.lin_self(x) + numerator / (denominator + self.eps)

    def message(self, neighbor_j: Tensor, gate_i: Tensor, gate_j: Tensor) -> Tensor:
        gate = torch.sigmoid(gate_i + gate_j)
        return torch.cat([gate * neighbor_j, gate], dim=-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels})"
