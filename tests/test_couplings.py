import math

import pytest
import torch
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GMMConv, LGConv
from torch_geometric.utils import remove_self_loops, softmax

from graphcon import GraphCON, check_coupling, couplings
from graphcon.couplings import (
    COUPLINGS,
    DotProductConv,
    GatedGCNConv,
    MoNetConv,
    Residual,
    SplineConv,
    build,
    start_as_wave,
)
from graphcon.models import GraphCONNet

from graphs import random_graph, ring

OWN = [DotProductConv(8, 8), GatedGCNConv(8, 8), MoNetConv(8, 8), SplineConv(8, 8), Residual(GCNConv(8, 8), 8)]


@pytest.mark.parametrize("layer", OWN, ids=str)
def test_our_own_layers_are_good_couplings(layer):
    report = check_coupling(layer)
    assert report.passed, str(report)


@pytest.mark.parametrize("layer", OWN, ids=str)
def test_our_own_layers_take_a_sparse_adjacency_as_pygs_do(layer):
    x, edge_index = torch.randn(20, 8), remove_self_loops(random_graph(20, 60).unique(dim=1))[0]
    adjacency = torch.sparse_coo_tensor(edge_index.flip(0), torch.ones(edge_index.size(1)), (20, 20)).to_sparse_csr()
    network = GraphCON(layer, 2).eval()
    with torch.no_grad():
        torch.testing.assert_close(network(x, adjacency), network(x, edge_index))


@pytest.mark.parametrize("add_self_loops", [True, False])
def test_dot_product_attention_is_a_mean_of_softmaxes_over_the_neighbourhood(add_self_loops: bool):
    torch.manual_seed(0)
    layer = DotProductConv(6, 6, heads=2, key_channels=3, add_self_loops=add_self_loops)
    x, edge_index = torch.randn(5, 6), random_graph(5, 6)
    pairs = edge_index[:, edge_index[0] != edge_index[1]] if add_self_loops else edge_index
    if add_self_loops:
        pairs = torch.cat([pairs, torch.arange(5).expand(2, 5)], dim=1)
    matrix = torch.zeros(5, 5)
    query, key = layer.lin_query(x).view(5, 2, 3), layer.lin_key(x).view(5, 2, 3)
    for head in range(2):
        scores = (query[pairs[1], head] * key[pairs[0], head]).sum(-1) / math.sqrt(3)
        matrix.index_put_((pairs[1], pairs[0]), softmax(scores, pairs[1], num_nodes=5) / 2, accumulate=True)
    torch.testing.assert_close(matrix.sum(1), torch.ones(5))  # right-stochastic
    torch.testing.assert_close(layer(x, edge_index), matrix @ layer.lin_value(x) + layer.bias)


def test_dot_product_attention_without_values_has_no_map_of_them():
    layer = DotProductConv(6, 6, values=False, bias=False)
    assert sorted(layer.state_dict()) == ["lin_key.weight", "lin_query.bias", "lin_query.weight"]
    constant = torch.ones(5, 6)
    torch.testing.assert_close(layer(constant, ring(5)), constant)  # an average of equals
    with pytest.raises(ValueError, match="values=False keeps the 6 channels"):
        DotProductConv(6, 4, values=False)


def test_gcn_without_values_is_the_normalised_adjacency_alone():
    layer = build("gcn", 6, values=False, bias=False)
    x, edge_index = torch.randn(5, 6), ring(5)
    matrix = (torch.eye(5) + torch.eye(5).roll(1, 0) + torch.eye(5).roll(-1, 0)) / 3  # all degrees are 3 with the loop
    torch.testing.assert_close(layer(x, edge_index), matrix @ x)
    assert not layer.state_dict()


def test_tran_is_the_transformer_of_the_paper():
    options = {"heads": 2, "values": False}
    assert type(build("tran", 6, **options)) is DotProductConv
    assert couplings.options("tran") == couplings.options("transformer")
    model, other = (GraphCONNet(6, 6, 2, coupling=name, **options) for name in ("tran", "transformer"))
    other.load_state_dict(model.state_dict())
    x, edge_index = torch.randn(5, 6), ring(5)
    torch.testing.assert_close(model(x, edge_index), other(x, edge_index), rtol=0, atol=0)


def test_gat_without_values_averages_the_neighbours_as_they_are():
    layer = build("gat", 6, heads=2, values=False)
    assert sorted(layer.state_dict()) == ["att_dst", "att_src", "bias"]
    constant = torch.ones(5, 6)
    torch.testing.assert_close(layer(constant, ring(5)), constant)  # an average of equals
    layer.reset_parameters()
    torch.testing.assert_close(layer(constant, ring(5)), constant)


def test_a_wave_needs_the_weights_it_sets():
    with pytest.raises(ValueError, match="values=False leaves them out"):
        start_as_wave(build("gcn", 6, values=False), 1.0)


def test_attention_dropout_acts_in_training_only():
    layer = DotProductConv(6, 6, dropout=0.5)
    x = torch.randn(5, 6)
    assert not torch.equal(layer(x, ring(5)), layer(x, ring(5)))
    layer.eval()
    assert torch.equal(layer(x, ring(5)), layer(x, ring(5)))


def test_gated_gcn_is_a_gated_mean_by_hand():
    torch.manual_seed(0)
    layer = GatedGCNConv(3, 3)
    x, edge_index = torch.randn(4, 3), torch.tensor([[0, 1, 2], [3, 3, 0]])
    out = layer(x, edge_index)
    for i, neighbours in {0: [2], 1: [], 3: [0, 1]}.items():
        gates = [torch.sigmoid(layer.lin_gate_i(x[i]) + layer.lin_gate_j(x[j])) for j in neighbours]
        pulled = [gate * layer.lin_neighbor(x[j]) for gate, j in zip(gates, neighbours, strict=True)]
        mean = sum(pulled, torch.zeros(3)) / (sum(gates, torch.zeros(3)) + layer.eps)
        torch.testing.assert_close(out[i], layer.lin_self(x[i]) + mean)


def test_monet_makes_its_pseudo_coordinates_from_the_degrees():
    torch.manual_seed(0)
    layer = MoNetConv(4, 4)
    x, edge_index = torch.randn(3, 4), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    scale = torch.tensor([1.0, 2.0, 1.0]).rsqrt()
    pseudo = torch.stack([scale[edge_index[1]], scale[edge_index[0]]], dim=1)
    torch.testing.assert_close(layer(x, edge_index), GMMConv.forward(layer, x, edge_index, pseudo))
    with pytest.raises(ValueError, match="edge_attr is missing"):
        MoNetConv(4, 4, dim=3)(x, edge_index)


def test_the_residual_term_stands_inside_the_activation():
    torch.manual_seed(0)
    conv = GCNConv(4, 4)
    layer = Residual(conv, 4)
    x = torch.randn(6, 4)
    expected = x + 0.5 * (x + 0.5 * ((conv(x, ring()) + x @ layer.lin.weight.t()).relu() - x - 0.5 * x))
    torch.testing.assert_close(GraphCON(layer, 1)(x, ring()), expected)
    weight = torch.rand(12)
    torch.testing.assert_close(layer(x, ring(), edge_weight=weight), conv(x, ring(), weight) + layer.lin(x))


@pytest.mark.parametrize("name", COUPLINGS)
@pytest.mark.parametrize("channels", [8, 7])
def test_every_name_builds_a_layer_of_its_width(name: str, channels: int):
    assert GraphCON(build(name, channels), 2)(torch.randn(6, channels), ring()).shape == (6, channels)


def test_options_and_pygs_own_names_are_taken():
    assert isinstance(build("GATv2Conv", 8), GATv2Conv)
    assert isinstance(build("LGConv", 8), LGConv)
    assert build("gat", 8, heads=8).heads == 8
    with pytest.raises(ValueError, match="heads=3 does not divide the 8 channels"):
        build("gat", 8, heads=3)
    with pytest.raises(ValueError, match="coupling='gatt' is unknown.*Did you mean 'gat'"):
        build("gatt", 8)


@pytest.mark.parametrize("residual", [True, False])
def test_oscillators_that_start_as_a_wave_carry_a_pulse_round_a_ring_without_growth(residual: bool):
    layer = Residual(GCNConv(4, 4), 4) if residual else GCNConv(4, 4)
    start_as_wave(layer, 1.0)
    pulse = torch.zeros(64, 4)
    pulse[0] = 1.0
    xs = GraphCON(layer, 64, dt=1.0, alpha=0.0, gamma=1.0, act=None).trajectory(pulse, ring(64))
    assert xs.abs().max() < 4
    # It runs at the speed of sqrt(1/3) hops a step, so that it has been at the other side, and not before its time.
    assert xs[64, 32].abs().min() > 0.5
    assert xs[40, 32].abs().max() < 1e-3


def test_attention_starts_as_a_wave_too():
    layer, x, edge_index = GATConv(8, 2, heads=4), torch.ones(5, 8), random_graph(5, 6)
    start_as_wave(layer, 0.5)
    torch.testing.assert_close(layer(x, edge_index), 0.5 * x)  # averages of ones


@pytest.mark.parametrize("layer", [GATConv(8, 8, heads=2, concat=False), SplineConv(8, 8)], ids=str)
def test_what_has_no_square_map_cannot_start_as_a_wave(layer):
    with pytest.raises(ValueError, match="start='wave' is for gcn and gat"):
        start_as_wave(layer, 1.0)


@pytest.mark.parametrize("layer", OWN, ids=str)
def test_a_layer_takes_autocast_and_a_graph_of_no_nodes(layer):
    x, edge_index = torch.randn(5, 8), random_graph(5, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(
            layer(x.bfloat16(), edge_index).float(), layer(x, edge_index).float(), atol=0.1, rtol=0.1
        )
    assert layer(x[:0], edge_index[:, :0]).shape == (0, 8)
