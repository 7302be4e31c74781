from itertools import product

import torch
from torch import Tensor
from torch.nn import Linear, Module, Parameter
from torch_geometric.nn import inits
from torch_geometric.utils import degree

from graphcon.couplings._adjacency import edges_of
from graphcon.couplings._coordinates import given_or_degrees


class SplineConv(Module):
    r"""SplineCNN (`Fey et al., 2018 <https://arxiv.org/abs/1711.08920>`_) in plain torch, with linear B-splines.

    .. math::
        F(X)_i = \frac{1}{|\mathcal{N}_i|} \sum_{j \in \mathcal{N}_i} \sum_{p} B_p(u_{ij})\, X_j W_p + X_i W + b

    The hat functions :math:`B_p` stand on a grid of ``kernel_size`` points in each of ``dim`` directions, from 0 to 1;
    u are the pseudo-coordinates of an edge. PyG's ``SplineConv`` with ``degree=1`` is the same and needs a compiled
    kernel; its other degrees are not here. A graph without coordinates gets the degrees of an edge's ends.

    Args:
        in_channels (int): Size of each input sample.
        out_channels (int): Size of each output sample.
        dim (int, optional): Number of pseudo-coordinates; without ``edge_attr`` it must be 2. (default: :obj:`2`)
        kernel_size (int, optional): Grid points in each direction. (default: :obj:`5`)
        root_weight (bool, optional): If :obj:`False`, leaves W out. (default: :obj:`True`)
        bias (bool, optional): If :obj:`False`, leaves b out. (default: :obj:`True`)

    Shapes:
        - **input:** node features ``[nodes, in_channels]``, edge indices ``[2, edges]``, pseudo-coordinates between 0
          and 1 ``[edges, dim]`` *(optional)*
        - **output:** ``[nodes, out_channels]``
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        dim: int = 2,
        kernel_size: int = 5,
        root_weight: bool = True,
        bias: bool = True,
    ):
        super().__init__()
        if kernel_size < 2:
            raise ValueError(f"kernel_size={kernel_size}: a grid from 0 to 1 has 2 points or more")
        self.in_channels, self.out_channels, self.dim, self.kernel_size = in_channels, out_channels, dim, kernel_size
        self.weight = Parameter(torch.empty(kernel_size**dim, in_channels, out_channels))
        self.lin = Linear(in_channels, out_channels, bias=False) if root_weight else None
        self.bias = Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        inits.uniform(self.in_channels * len(self.weight), self.weight)
        inits.reset(self.lin)
        inits.zeros(self.bias)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Tensor:
        """Runs the layer; ``edge_attr [edges, dim]`` are the pseudo-coordinates."""
        edge_index = edges_of(edge_index)
        share, point = self.basis(given_or_degrees(self, x, edge_index, edge_attr))
        count = degree(edge_index[1], x.size(0), dtype=x.dtype).clamp(min=1).unsqueeze(-1)
        # All features of one grid point side by side: a single product with all weights.
        points = len(self.weight)
        pulled = (share.unsqueeze(-1) * x[edge_index[0]].unsqueeze(1)).flatten(0, 1)  # [edges * corners, in]
        place = (edge_index[1].unsqueeze(1) * points + point).view(-1, 1).expand(-1, x.size(1))
        summed = pulled.new_zeros(x.size(0) * points, x.size(1)).scatter_add(0, place, pulled)
        out = summed.view(x.size(0), points * x.size(1)) @ self.weight.flatten(0, 1) / count
        out = out if self.lin is None else out + self.lin(x)
        return out if self.bias is None else out + self.bias

    def basis(self, u: Tensor) -> tuple[Tensor, Tensor]:
        """The hat functions that do not vanish at ``u [edges, dim]``: values and grid points ``[edges, 2 ** dim]``."""
        at = u.clamp(0, 1) * (self.kernel_size - 1)
        low = at.floor().clamp(max=self.kernel_size - 2)
        share = torch.stack([1 - (at - low), at - low])  # [2, edges, dim]
        stride = self.kernel_size ** torch.arange(self.dim, device=u.device)
        corners = torch.tensor(list(product((0, 1), repeat=self.dim)), device=u.device)  # [2 ** dim, dim]
        point = ((low.long().unsqueeze(1) + corners) * stride).sum(-1)
        value = torch.stack([share[corner, :, range(self.dim)].prod(0) for corner in corners], dim=-1)
        return value, point

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, dim={self.dim})"
