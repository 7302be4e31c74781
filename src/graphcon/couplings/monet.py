from typing import cast

from torch import Tensor
from torch_geometric.nn.conv import GMMConv

from graphcon.couplings._adjacency import edges_of
from graphcon.couplings._coordinates import given_or_degrees


class MoNetConv(GMMConv):
    r"""MoNet (:class:`torch_geometric.nn.conv.GMMConv`) that finds its pseudo-coordinates where none are given.

    A graph without positions gets the degrees of an edge's ends, :math:`(1/\sqrt{d_i}, 1/\sqrt{d_j})`, as in
    `MoNet's <https://arxiv.org/abs/1611.08402>`_ experiments on citation graphs.

    Args:
        in_channels (int): Size of each input sample.
        out_channels (int): Size of each output sample.
        dim (int, optional): Number of pseudo-coordinates; without ``edge_attr`` it must be 2. (default: :obj:`2`)
        kernel_size (int, optional): Number of Gaussians. (default: :obj:`3`)
        **kwargs: Arguments of :class:`torch_geometric.nn.conv.GMMConv`.
    """

    def __init__(self, in_channels: int, out_channels: int, dim: int = 2, kernel_size: int = 3, **kwargs):
        super().__init__(in_channels, out_channels, dim=dim, kernel_size=kernel_size, **kwargs)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Tensor:
        """Runs the layer; ``edge_attr [edges, dim]`` are the pseudo-coordinates."""
        edge_index = edges_of(edge_index)
        return cast(Tensor, super().forward(x, edge_index, given_or_degrees(self, x, edge_index, edge_attr)))
