import math
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import Module, ModuleList, Parameter
from torch.nn.functional import softplus
from torch_geometric.nn import inits
from torch_geometric.utils import to_dense_batch

from graphcon._validation import check_number
from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, State
from graphcon.models.rivals._once import per_node
from graphcon.models.rivals.geom_gcn import isomap

_DIM = 2
_MOST_POINTS = 2000


class Cloud(NamedTuple):
    """The points of every graph, padded to equally many."""

    points: Tensor  # [graphs, points, 2]
    mask: Tensor  # [graphs, points]
    batch: Tensor  # [nodes]

    def dense(self, x: Tensor) -> Tensor:
        """From ``[nodes, channels]`` to ``[graphs, points, channels]``."""
        return to_dense_batch(x, self.batch, max_num_nodes=self.mask.size(1))[0]


class GaussianProcessConv(Module):
    r"""A convolution of a signal that is known at scattered points, and of how well it is known.

    The values y at the points X, each with its variance S, are those of a Gaussian process with the kernel
    :math:`k(x, x') = a\,e^{-|x - x'|^2 / 2 \ell^2}`. To it the operator

    .. math::
        \mathcal{A} = \sum_k W_k\, e^{\beta_k \cdot \nabla + \frac{s_k^2}{2} \Delta}

    is applied, a sum of shifts by :math:`\beta_k` and diffusions by :math:`s_k`, whose images of k are Gaussians again.
    With :math:`k_j = e^{D_j} k` the mean and the variance of the answer at the points are

    .. math::
        \mu = \sum_j W_j\, k_j(X, X) (k + S)^{-1} y, \qquad
        \sigma^2 = \sum_{j, l} W_j W_l \big(e^{D_j} k\, e^{D_l} - k_j (k + S)^{-1} k_l\big)

    Args:
        in_channels (int): Size of each input sample.
        out_channels (int): Size of each output sample.
        kernel_size (int): Number of terms of the operator.
        length_scale (float): What :math:`\ell` starts from, in mean distances between points.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, length_scale: float):
        super().__init__()
        self.in_channels, self.out_channels, self.length_scale = in_channels, out_channels, length_scale
        self.weight = Parameter(torch.empty(kernel_size, in_channels, out_channels))
        self.bias = Parameter(torch.empty(out_channels))
        self.shift = Parameter(torch.empty(kernel_size, _DIM))
        self.spread = Parameter(torch.empty(kernel_size))
        self.kernel = Parameter(torch.empty(2))  # the logarithms of the length and of the amplitude
        self.noise = Parameter(torch.empty(in_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        inits.uniform(self.weight.size(0) * self.in_channels, self.weight)
        inits.zeros(self.bias)
        torch.nn.init.normal_(self.shift)
        torch.nn.init.constant_(self.spread, 0.0)
        with torch.no_grad():
            self.kernel.copy_(self.kernel.new_tensor([math.log(self.length_scale), 0.0]))
        torch.nn.init.constant_(self.noise, -2.0)

    def forward(self, mean: Tensor, variance: Tensor, cloud: Cloud) -> tuple[Tensor, Tensor]:
        """Maps means and variances ``[graphs, points, in_channels]`` to those of ``out_channels``."""
        length, amplitude = self.kernel.exp()
        square, spread = length**2, softplus(self.spread) ** 2
        both = cloud.mask.unsqueeze(-1) & cloud.mask.unsqueeze(-2)  # [graphs, points, points]
        apart = cloud.points.unsqueeze(-2) - cloud.points.unsqueeze(-3)
        kernel = amplitude * _gauss(apart, square, square) * both
        noise = variance.transpose(-1, -2) + softplus(self.noise).unsqueeze(-1) + 1e-4
        root = torch.linalg.cholesky(kernel.unsqueeze(1) + torch.diag_embed(noise))  # [graphs, in, points, points]

        size = cloud.mask.sum(-1).view(-1, 1, 1).clamp(min=1)
        level = (mean * cloud.mask.unsqueeze(-1)).sum(1, keepdim=True) / size  # what the signal is far from all points
        rest = ((mean - level) * cloud.mask.unsqueeze(-1)).transpose(-1, -2).unsqueeze(-1)
        solved = torch.cholesky_solve(rest, root).squeeze(-1)  # [graphs, in, points]

        wide = (square + spread).view(-1, 1, 1)
        seen = amplitude * _gauss(apart.unsqueeze(1) + self.shift.view(-1, 1, 1, _DIM), square, wide)
        seen = seen * both.unsqueeze(1)  # [graphs, terms, points, points]
        lifted = torch.einsum("gkij,gcj->gkic", seen, solved) + level.unsqueeze(1)
        out = torch.einsum("gkic,kco->gio", lifted, self.weight) + self.bias

        between = self.shift.unsqueeze(0) - self.shift.unsqueeze(1)
        prior = amplitude * _gauss(between, square, square + spread.unsqueeze(0) + spread.unsqueeze(1))
        graphs, terms, points = seen.shape[:3]
        columns = seen.permute(0, 3, 1, 2).reshape(graphs, 1, points, terms * points)
        known = torch.linalg.solve_triangular(root, columns.expand(-1, root.size(1), -1, -1), upper=False)
        known = known.view(graphs, -1, points, terms, points)  # [graphs, in, points, terms, points]
        left = prior - torch.einsum("gcjki,gcjli->gcikl", known, known)
        uncertainty = torch.einsum("gcilo,lco->gio", torch.einsum("gcikl,kco->gcilo", left, self.weight), self.weight)
        return out, uncertainty.clamp(min=1e-6)


class PNCNN(Core):
    r"""Probabilistic numeric convolutions (`Finzi et al., 2021 <https://arxiv.org/abs/2010.10876>`_).

    A graph is a cloud of points with a signal that is known there and guessed between; its edges are not looked at. A
    step is a :class:`GaussianProcessConv`, then the mean and the variance of :math:`\max(0, \cdot)` of a normal number:

    .. math::
        \mu' = \mu \Phi(\mu/\sigma) + \sigma \varphi(\mu/\sigma), \qquad
        \sigma'^2 = (\mu^2 + \sigma^2) \Phi(\mu/\sigma) + \mu \sigma \varphi(\mu/\sigma) - \mu'^2

    Diffusions are equal in all directions here, and pooling is the network's readout; in the paper both can be more. A
    graph without positions gets those of Isomap. The cost grows with the third power of the points of a graph.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout on the means before every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation of the encoder. (default: :obj:`"relu"`)
        kernel_size (int, optional): Terms of the operator. (default: :obj:`5`)
        length_scale (float, optional): What the kernel's length starts from, in mean distances between
            points. (default: :obj:`1.0`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    needs = ("pos", "batch")

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        kernel_size: int = 5,
        length_scale: float = 1.0,
        memory: str = "auto",
    ):
        super().__init__(channels, num_layers, dropout, act, memory)
        check_number("length_scale", length_scale, positive=True)
        layer = partial(GaussianProcessConv, channels, channels, kernel_size, length_scale)
        self.convs = ModuleList(layer() for _ in range(num_layers))

    def prepare(
        self, x: Tensor, edge_index: Tensor, pos: Tensor | None = None, batch: Tensor | None = None, **kwargs: Any
    ) -> Cloud:
        if pos is None:
            pos = per_node("isomap", edge_index, x.size(0), isomap)
        if pos.size(-1) != _DIM:
            raise ValueError(f"pos has {pos.size(-1)} coordinates per node, but the kernels are made for {_DIM}")
        batch = torch.zeros(x.size(0), dtype=torch.long, device=x.device) if batch is None else batch
        points, mask = to_dense_batch(pos.to(x.dtype), batch)
        if points.size(1) > _MOST_POINTS:
            raise ValueError(
                f"a graph of {points.size(1)} points, but pncnn solves a dense system per graph and channel, for "
                f"{_MOST_POINTS} points at most"
            )
        least = points.masked_fill(~mask.unsqueeze(-1), torch.inf).amin(1, keepdim=True)
        most = points.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(1, keepdim=True)
        extent = (most - least).amax(-1, keepdim=True).clamp(min=1e-6)  # the side of a square that holds all points
        points = (points - least) / extent * mask.sum(-1).view(-1, 1, 1).sqrt()
        return Cloud(points.masked_fill(~mask.unsqueeze(-1), 0.0), mask, batch)

    def begin(self, x: Tensor) -> State:
        return x, torch.zeros_like(x)

    def step(self, n: int, graph: Cloud, *state: Tensor) -> State:
        mean, variance = (graph.dense(value) for value in state)
        mean, variance = self.convs[n](self.dropout(mean), variance, graph)
        return tuple(value[graph.mask] for value in rectified(mean, variance))


def rectified(mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of max(0, z) for a normal number z of that mean and variance."""
    deviation = variance.sqrt()
    ratio = mean / deviation
    below = torch.special.ndtr(ratio)
    density = torch.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi)
    first = mean * below + deviation * density
    second = (mean**2 + variance) * below + mean * deviation * density
    return first, (second - first**2).clamp(min=0)


def _gauss(apart: Tensor, square: Tensor, wide: Tensor) -> Tensor:
    """A Gaussian of variance ``square`` that was spread to ``wide``, at these differences ``[..., 2]``."""
    return (square / wide) ** (_DIM / 2) * torch.exp(-apart.square().sum(-1) / (2 * wide))


CARDS = (
    rival(
        "pncnn",
        PNCNN,
        "convolutions of a Gaussian process through the points of a graph",
        "Finzi et al. 2021, arXiv:2010.10876",
    ),
)
