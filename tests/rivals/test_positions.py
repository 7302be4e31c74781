"""Kernels over pseudo-coordinates: B-splines in plain torch, positions, the degrees where there are none."""

import itertools

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import Cartesian, Polar

from graphcon.couplings import MoNetConv, SplineConv, cartesian_coordinates, polar_coordinates
from graphcon.models import MODELS, GraphCONNet

from graphs import random_graph


def _cloud(seed: int, nodes: int = 8) -> Data:
    generator = torch.Generator().manual_seed(seed)
    pos = torch.rand(nodes, 2, generator=generator) * (1 + seed)
    return Data(x=torch.randn(nodes, 3, generator=generator), edge_index=random_graph(nodes, 8, seed), pos=pos)


def _hat(u: float, point: int, size: int) -> float:
    return max(0.0, 1.0 - abs(u * (size - 1) - point))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_spline_layer_is_the_formula_with_hat_functions(dim: int):
    torch.manual_seed(0)
    layer = SplineConv(3, 4, dim=dim, kernel_size=3)
    x, edge_index = torch.randn(5, 3), random_graph(5, 6)
    u = torch.rand(edge_index.size(1), dim)
    u[0], u[1] = 0.0, 1.0  # the ends of the grid
    expected = layer.lin(x) + layer.bias
    for i in range(5):
        neighbours = (edge_index[1] == i).nonzero().flatten().tolist()
        for edge in neighbours:
            kernel = torch.zeros(3, 4)
            for p in itertools.product(range(3), repeat=dim):
                value = torch.tensor([_hat(float(u[edge, d]), p[d], 3) for d in range(dim)]).prod()
                kernel += value * layer.weight[sum(p[d] * 3**d for d in range(dim))]
            expected[i] += x[edge_index[0, edge]] @ kernel / len(neighbours)
    torch.testing.assert_close(layer(x, edge_index, u), expected)


def test_the_hat_functions_sum_to_one():
    values, points = SplineConv(2, 2, dim=2, kernel_size=4).basis(torch.rand(50, 2))
    torch.testing.assert_close(values.sum(-1), torch.ones(50))
    assert int(points.min()) >= 0
    assert int(points.max()) < 16


def test_the_spline_layer_says_what_it_lacks():
    with pytest.raises(ValueError, match="edge_attr is missing: SplineConv\\(4, 4, dim=3\\)"):
        SplineConv(4, 4, dim=3)(torch.randn(5, 4), random_graph(5, 3))
    with pytest.raises(ValueError, match="kernel_size=1"):
        SplineConv(4, 4, kernel_size=1)


def test_coordinates_are_those_of_pygs_transforms_for_every_graph_by_itself():
    graphs = [_cloud(1), _cloud(2, nodes=6)]
    batch = Batch.from_data_list(graphs)
    found = cartesian_coordinates(batch.pos, batch.edge_index, batch.batch)
    torch.testing.assert_close(found, torch.cat([Cartesian()(graph.clone()).edge_attr for graph in graphs]))
    # PyG's polar transform looks from the source, its Cartesian one from the target, as both of ours.
    found = polar_coordinates(batch.pos, batch.edge_index.flip(0), batch.batch)
    torch.testing.assert_close(found, torch.cat([Polar()(graph.clone()).edge_attr for graph in graphs]))


@pytest.mark.parametrize("name", ["monet", "spline", "graphcon-monet", "graphcon-spline"])
@pytest.mark.parametrize("coordinates", ["cartesian", "polar"])
def test_positions_reach_the_kernels_and_stay_in_their_graph(name: str, coordinates: str):
    torch.manual_seed(0)
    net = MODELS[name].build(3, 8, 2, 2, task="graph", coordinates=coordinates).eval()
    graphs = [_cloud(1), _cloud(2, nodes=6)]
    batch = Batch.from_data_list(graphs)
    together = net(batch.x, batch.edge_index, batch=batch.batch, pos=batch.pos)
    alone = torch.cat([net(graph.x, graph.edge_index, pos=graph.pos) for graph in graphs])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(together, net(batch.x, batch.edge_index, batch=batch.batch), atol=1e-4)


def test_positions_are_what_one_would_give_as_edge_features_oneself():
    net, graph = MODELS["graphcon-monet"].build(3, 8, 2, 2), _cloud(1)
    u = cartesian_coordinates(graph.pos, graph.edge_index)
    expected = net(graph.x, graph.edge_index, edge_attr=u)
    torch.testing.assert_close(net(graph.x, graph.edge_index, pos=graph.pos), expected, rtol=0, atol=0)
    given = net(graph.x, graph.edge_index, edge_attr=u, pos=torch.rand(8, 2))  # what is given goes first
    torch.testing.assert_close(given, expected, rtol=0, atol=0)


def test_kernels_of_three_dimensions_take_positions_of_three():
    net, graph = MODELS["graphcon-monet"].build(3, 8, 2, 2, dim=3), _cloud(1)
    assert net(graph.x, graph.edge_index, pos=torch.rand(8, 3)).shape == (8, 2)


def test_positions_that_do_not_fit_are_refused():
    net, graph = MODELS["monet"].build(3, 8, 2, 2), _cloud(1)
    with pytest.raises(ValueError, match="pos has 3 coordinates per node, but the kernels are made for 2"):
        net(graph.x, graph.edge_index, pos=torch.rand(8, 3))
    with pytest.raises(ValueError, match=r"a distance and an angle, but MoNetConv.* has dim=3"):
        MODELS["monet"].build(3, 8, 2, 2, dim=3, coordinates="polar")
    with pytest.raises(ValueError, match=r"coordinates='polar': GCNConv\(8, 8\) takes no edge_attr"):
        GraphCONNet(3, 8, 2, 2, coordinates="polar")
    with pytest.raises(ValueError, match="coordinates='spherical'"):
        GraphCONNet(3, 8, 2, 2, coupling="monet", coordinates="spherical")


@pytest.mark.parametrize("layer", [MoNetConv(3, 3), SplineConv(3, 3)], ids=str)
def test_monet_and_spline_take_the_same_degrees_where_there_are_no_positions(layer: torch.nn.Module):
    x, edge_index = torch.randn(6, 3), random_graph(6, 4)
    scale = torch.bincount(edge_index[1], minlength=6).float().rsqrt()
    u = torch.stack([scale[edge_index[1]], scale[edge_index[0]]], dim=-1)
    torch.testing.assert_close(layer(x, edge_index), layer(x, edge_index, u))
