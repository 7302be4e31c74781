from typing import Any

from torch import Tensor
from torch.nn import Linear


class PointwiseConv(Linear):
    """A coupling that looks at no neighbour, :math:`F(X) = X W + b`: a plain network of it is an MLP.

    Args:
        in_channels (int): Size of each input sample.
        out_channels (int): Size of each output sample.
        bias (bool, optional): If :obj:`False`, leaves b out. (default: :obj:`True`)
    """

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True):
        super().__init__(in_channels, out_channels, bias)
        self.in_channels, self.out_channels = in_channels, out_channels

    def forward(self, x: Tensor, edge_index: Any = None) -> Tensor:
        """Maps ``x [nodes, in_channels]``; the edges are not looked at."""
        return super().forward(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels})"
