"""Probabilistic numeric convolutions: against a Gaussian process worked out densely, and against samples."""

import pytest
import torch
from torch_geometric.data import Batch, Data

from graphcon.models import MODELS
from graphcon.models.rivals.pncnn import Cloud, GaussianProcessConv, rectified

from graphs import random_graph


def _layer(kernel_size: int = 2) -> GaussianProcessConv:
    torch.manual_seed(0)
    return GaussianProcessConv(2, 3, kernel_size, 0.8).double()


def _cloud(points: int = 6) -> Cloud:
    torch.manual_seed(1)
    return Cloud(
        torch.rand(1, points, 2).double() * 2, torch.ones(1, points, dtype=torch.bool), torch.zeros(points).long()
    )


def test_parameters_that_start_anew_stay_what_they_are():
    layer = _layer()
    before = dict(layer.named_parameters())
    layer.reset_parameters()
    assert {parameter.dtype for parameter in layer.parameters()} == {torch.float64}
    assert all(parameter is before[name] for name, parameter in layer.named_parameters())
    torch.testing.assert_close(layer.kernel.exp(), torch.tensor([0.8, 1.0], dtype=torch.float64))


def test_a_layer_is_an_operator_on_the_posterior_of_a_gaussian_process():
    """With quadrature in place of the closed form: a shifted, diffused kernel is an average over a normal step."""
    layer, cloud = _layer(), _cloud()
    mean, variance = torch.randn(1, 6, 2).double(), torch.rand(1, 6, 2).double()
    out, spread = layer(mean, variance, cloud)
    (length, amplitude), x = layer.kernel.exp(), cloud.points[0]
    width = torch.nn.functional.softplus(layer.spread)
    noise = torch.nn.functional.softplus(layer.noise)
    grid = torch.linspace(-6, 6, 61).double()
    step = torch.cartesian_prod(grid, grid)  # [nodes of the quadrature, 2]
    mass = torch.exp(-step.square().sum(-1) / 2)
    mass = mass / mass.sum()

    def kernel(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return amplitude * torch.exp(-(torch.cdist(a, b) ** 2) / (2 * length**2))

    def moved(k: int) -> torch.Tensor:
        return x[:, None] + layer.shift[k] + width[k] * step  # [points, quadrature, 2]

    seen = [torch.einsum("q,iqj->ij", mass, kernel(moved(k).flatten(0, 1), x).view(6, -1, 6)) for k in range(2)]
    level = mean[0].mean(0)
    expected = layer.bias.expand(6, 3).clone()
    certain = torch.zeros(6, 3).double()
    for c in range(2):
        matrix = kernel(x, x) + torch.diag(variance[0, :, c] + noise[c] + 1e-4)
        solved = torch.linalg.solve(matrix, mean[0, :, c] - level[c])
        for k in range(2):
            expected = expected + (seen[k] @ solved + level[c])[:, None] * layer.weight[k, c]
            for other in range(2):
                between = (width[k] ** 2 + width[other] ** 2).sqrt() * step + layer.shift[k] - layer.shift[other]
                prior = (mass * kernel(between, torch.zeros(1, 2).double())[:, 0]).sum()
                known = (seen[k] * torch.linalg.solve(matrix, seen[other].t()).t()).sum(-1)
                certain = certain + (prior - known)[:, None] * layer.weight[k, c] * layer.weight[other, c]
    torch.testing.assert_close(out[0], expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(spread[0], certain, rtol=1e-4, atol=1e-5)


def test_the_moments_of_a_rectified_normal_number_are_those_of_samples():
    mean, variance = torch.tensor([-1.0, 0.0, 0.5, 2.0]), torch.tensor([0.5, 1.0, 2.0, 0.1])
    generator = torch.Generator().manual_seed(0)
    samples = (mean + variance.sqrt() * torch.randn(400_000, 4, generator=generator)).relu()
    first, second = rectified(mean, variance)
    torch.testing.assert_close(first, samples.mean(0), rtol=0.01, atol=0.005)
    torch.testing.assert_close(second, samples.var(0), rtol=0.02, atol=0.005)


def test_where_the_signal_is_known_the_answer_is_surer_than_where_it_is_not():
    layer, cloud = _layer(), _cloud()
    mean = torch.zeros(1, 6, 2).double()
    _, sure = layer(mean, torch.full_like(mean, 1e-3), cloud)
    _, unsure = layer(mean, torch.full_like(mean, 10.0), cloud)
    assert bool((sure < unsure).all())


def test_points_of_graphs_of_different_sizes_stay_apart():
    torch.manual_seed(0)
    graphs = [Data(x=torch.randn(n, 3), pos=torch.rand(n, 2), edge_index=random_graph(n, 4)) for n in (5, 9)]
    batch = Batch.from_data_list(graphs)
    net = MODELS["pncnn"].build(3, 4, 2, 2, task="graph").eval()
    together = net(batch.x, batch.edge_index, batch=batch.batch, pos=batch.pos)
    alone = torch.cat([net(graph.x, graph.edge_index, pos=graph.pos) for graph in graphs])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    moved = net(
        batch.x, batch.edge_index, batch=batch.batch, pos=3 * batch.pos + torch.tensor([1.0, -4.0])
    )  # neither place nor size matter
    torch.testing.assert_close(together, moved, rtol=1e-3, atol=1e-4)


def test_too_many_points_are_refused():
    net = MODELS["pncnn"].build(3, 4, 1, 2)
    with pytest.raises(ValueError, match="a graph of 2001 points, but pncnn solves a dense system"):
        net(torch.randn(2001, 3), torch.empty(2, 0, dtype=torch.long), pos=torch.rand(2001, 2))
