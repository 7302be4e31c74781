"""The structure of a graph is built once, kept while the graph stays what it is, and never served stale."""

import gc

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import k_hop_subgraph

from graphcon import GraphCON, kernels
from graphcon.kernels import structure

from graphs import random_graph
from kernel_cases import CHANNELS, build

NODES = 9


@pytest.fixture
def built(monkeypatch) -> list[tuple[int, bool]]:
    """What is built, as (nodes, loops)."""
    calls: list[tuple[int, bool]] = []
    original = structure.csr

    def counting(edge_index: Tensor, nodes: int, loops: bool):
        calls.append((nodes, loops))
        return original(edge_index, nodes, loops)

    monkeypatch.setattr(structure, "csr", counting)
    return calls


def own_path(network: GraphCON, x: Tensor, *args: Tensor) -> Tensor:
    with kernels.disabled():
        return network(x, *args)


def test_it_is_built_once_for_all_steps_layers_and_epochs(built):
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 9)
    network = GraphCON([build(name) for name in ("gcn", "gat", "gcn", "dot product")])
    for _ in range(3):
        network(x, edge_index).sum().backward()
    assert built == [(NODES, True)]
    GraphCON(build("sage"), 2)(x, edge_index)
    assert built == [(NODES, True), (NODES, False)]
    larger = torch.randn(NODES + 1, CHANNELS)
    network(larger, edge_index)
    assert built[2:] == [(NODES + 1, True)]


def _by_index(edge_index: Tensor) -> None:
    edge_index[0, 0] = 5


def _by_data(edge_index: Tensor) -> None:
    edge_index.data[0, 0] = 5


def _by_numpy(edge_index: Tensor) -> None:
    edge_index.numpy()[0, 0] = 5


@pytest.mark.parametrize("change", [_by_index, _by_data, _by_numpy])
@pytest.mark.parametrize("name", ["gcn", "gat", "gin", "cheb", "sage"])
def test_a_change_in_place_is_noticed(name: str, change):
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 9)
    network = GraphCON(build(name), 3)
    before = network(x, edge_index)
    change(edge_index)
    after = network(x, edge_index)
    torch.testing.assert_close(after, own_path(network, x, edge_index))
    assert not torch.allclose(before, after)


def test_a_change_of_the_weights_is_noticed():
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 9)
    network, weight = GraphCON(build("gcn"), 3), torch.rand(edge_index.size(1))
    before = network(x, edge_index, weight)
    weight.numpy()[2] = 9.0
    after = network(x, edge_index, weight)
    torch.testing.assert_close(after, own_path(network, x, edge_index, weight))
    assert not torch.allclose(before, after)
    torch.testing.assert_close(network(x, edge_index), own_path(network, x, edge_index))


def test_learned_weights_are_never_kept():
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 9)
    network = GraphCON(build("gcn"), 3)
    weight = torch.rand(edge_index.size(1), requires_grad=True)
    for _ in range(2):
        weight.grad = None
        network(x, edge_index, weight).sum().backward()
        assert weight.grad is not None
        assert weight.grad.abs().sum() > 0


@pytest.mark.parametrize("name", ["gcn", "gat", "dot product", "cheb"])
def test_training_may_follow_inference_on_the_same_graph(name: str):
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 9)
    network = GraphCON(build(name), 3, gamma=0.7)
    with torch.inference_mode():
        before = network(x, edge_index).clone()
    after = network(x, edge_index)
    after.sum().backward()
    assert torch.equal(before, after)


def test_what_is_kept_goes_with_the_graph():
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 9)
    network, key = GraphCON(build("gcn"), 2), id(edge_index)
    network(x, edge_index)
    assert key in structure._known
    del edge_index
    gc.collect()
    assert key not in structure._known


def test_equal_tensors_are_told_apart_by_their_content_only():
    first = torch.arange(10).view(2, 5) % 3
    assert structure._content(first) == structure._content(first.clone())
    assert structure._content(first) != structure._content(first.flip(0))
    assert structure._content(first) != structure._content(first[:, :4])


def test_multi_hop_batches_of_a_loader_work():
    x, edge_index = torch.randn(60, CHANNELS), random_graph(60, 60)
    parts = []
    for seed in range(0, 60, 6):
        nodes, edges, _, _ = k_hop_subgraph(seed, 2, edge_index, relabel_nodes=True)
        parts.append(Data(x=x[nodes], edge_index=edges))
    network = GraphCON(build("gat"), 3)
    for batch in DataLoader(parts, batch_size=3):
        torch.testing.assert_close(network(batch.x, batch.edge_index), own_path(network, batch.x, batch.edge_index))


def test_one_graph_met_by_many_node_counts_keeps_the_last_few():
    edge_index, layer = random_graph(NODES, 20), build("gcn")
    for nodes in range(NODES, NODES + 30):
        kernels.call(layer, torch.randn(nodes, CHANNELS), edge_index)
    known = structure.known(edge_index)
    assert list(known.graphs) == [(nodes, True) for nodes in range(NODES + 30 - structure.MOST_KEPT, NODES + 30)]
    assert len(known.values) == structure.MOST_KEPT
