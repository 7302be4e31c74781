"""Graphs with a known answer have that answer."""

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.utils import degree, is_undirected, to_networkx

from graphcon.data import edge_homophily, open_data, statistics, synthetic
from graphcon.errors import InputError


@pytest.mark.parametrize("homophily", [0.0, 0.1, 0.25, 0.6, 0.95, 1.0])
def test_the_dial_of_the_block_model_sets_homophily_and_degree(homophily):
    dataset = synthetic.block_model(4000, 4, homophily=homophily, mean_degree=12, seed=1)
    found = statistics(dataset)
    assert found.edge_homophily == pytest.approx(homophily, abs=0.02)
    assert found.mean_degree == pytest.approx(12, abs=0.3)
    assert found.self_loops == found.duplicates == 0
    assert found.undirected
    assert [count for _, count in found.balance] == [1000] * 4


def test_class_means_are_as_far_apart_as_asked():
    dataset = synthetic.block_model(20_000, 3, separation=3.0, mean_degree=4, num_features=8)
    data = dataset.data
    for label in range(3):
        assert float(data.x[data.y == label].mean(dim=0).norm()) == pytest.approx(3.0, abs=0.1)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10_000), num_nodes=st.integers(20, 200))
def test_the_same_seed_gives_the_same_graph(seed, num_nodes):
    first, second = (synthetic.block_model(num_nodes, 2, mean_degree=3, seed=seed).data for _ in range(2))
    assert torch.equal(first.edge_index, second.edge_index)
    assert torch.equal(first.x, second.x)


@given(height=st.integers(1, 6), width=st.integers(1, 6))
def test_a_grid_is_the_grid_of_networkx(height, width):
    ours = to_networkx(synthetic.grid(height, width), to_undirected=True)
    theirs = nx.convert_node_labels_to_integers(nx.grid_2d_graph(height, width), ordering="sorted")
    assert set(map(frozenset, ours.edges)) == set(map(frozenset, theirs.edges))


def test_on_a_torus_every_node_has_four_neighbours():
    torus = synthetic.grid(5, 7, periodic=True)
    assert degree(torus.edge_index[1]).tolist() == [4] * 35


@given(num_nodes=st.integers(3, 40))
def test_rings_and_paths(num_nodes):
    ring, path = synthetic.ring(num_nodes), synthetic.path(num_nodes)
    assert nx.is_isomorphic(to_networkx(ring, to_undirected=True), nx.cycle_graph(num_nodes))
    assert nx.is_isomorphic(to_networkx(path, to_undirected=True), nx.path_graph(num_nodes))


@pytest.mark.parametrize(("depth", "branching"), [(1, 2), (4, 2), (3, 3)])
def test_trees_are_balanced(depth, branching):
    tree = synthetic.tree(depth, branching)
    graph = to_networkx(tree, to_undirected=True)
    assert nx.is_isomorphic(graph, nx.balanced_tree(branching, depth))
    distances = nx.single_source_shortest_path_length(graph, 0)
    assert tree.depth.tolist() == [distances[node] for node in range(tree.num_nodes)]


@pytest.mark.parametrize("topology", ["path", "ring", "tree"])
@pytest.mark.parametrize("distance", [2, 5])
def test_the_label_sits_exactly_that_far_away(topology, distance):
    dataset = synthetic.graph_transfer(distance, topology=topology, num_classes=3, num_graphs=30)
    for data in dataset.graphs:
        assert is_undirected(data.edge_index)
        source = int(data.x[:, 3].nonzero())
        assert nx.shortest_path_length(to_networkx(data), source, 0) == distance
        assert int(data.x[source, :3].argmax()) == int(data.y[0])
        assert data.y[1:].eq(-1).all()


@pytest.mark.parametrize("topology", ["path", "ring", "tree"])
def test_fewer_hops_than_the_distance_see_the_same_for_every_class(topology):
    """Depth is needed by construction: k - 1 rounds of averaging leave no trace of the class at the
    target.
    """
    distance = 4
    dataset = synthetic.graph_transfer(distance, topology=topology, num_classes=3, num_graphs=30)

    def seen_at_target(data, hops):
        x = data.x[:, :3]
        for _ in range(hops):
            x = x + torch.zeros_like(x).index_add_(0, data.edge_index[1], x[data.edge_index[0]])
        return x[0]

    for data in dataset.graphs:
        assert seen_at_target(data, distance - 1).eq(0).all()
        assert int(seen_at_target(data, distance).argmax()) == int(data.y[0])


def test_statistics_count_only_nodes_with_a_target():
    dataset = synthetic.graph_transfer(3, num_classes=4, num_graphs=40)
    assert [count for _, count in statistics(dataset).balance] == [10] * 4


def test_homophily_of_a_hand_made_graph():
    # A triangle of classes 0, 0, 1 and a self-loop: edges 01 equal, 02 and 12 not, 00 equal.
    edge_index = torch.tensor([[0, 0, 1, 0], [1, 2, 2, 0]])
    assert edge_homophily(edge_index, torch.tensor([0, 0, 1])) == 0.5


def test_impossible_requests_are_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        synthetic.block_model(homophily=1.5)
    with pytest.raises(InputError, match="cannot have so many neighbours"):
        synthetic.block_model(40, 4, mean_degree=30)
    with pytest.raises(InputError, match="topology='star'"):
        synthetic.graph_transfer(3, topology="star")


def test_a_made_set_is_named_like_one_on_disk():
    dataset, schema = open_data("graph-transfer-ring-4")
    assert dataset.name == "graph-transfer-ring-4"
    assert schema is None


def test_planted_proteins_have_the_real_sizes_and_labels_that_the_graph_decides(benchmark_root):
    dataset, _ = open_data("ppi-planted", root=benchmark_root)
    assert (len(dataset.graphs), dataset.num_features, dataset.num_outputs) == (24, 50, 121)
    assert [len(index) for _, index in dataset.split.parts()] == [20, 2, 2]
    assert sum(int(graph.num_nodes or 0) for graph in dataset.graphs) == 56_944
    share = dataset.graphs[0].y.mean()
    assert 0.4 < float(share) < 0.6


def test_planted_proteins_without_their_edges_say_where_they_belong(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path))
    monkeypatch.delenv("GRAPHCON_DATA", raising=False)
    with pytest.raises(InputError, match=r"ppi24_topology\.npz is in none of"):
        open_data("ppi-planted")
