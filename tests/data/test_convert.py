"""Graphs from elsewhere arrive as they are."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.datasets import KarateClub
from torch_geometric.io import read_npz
from torch_geometric.loader import DataLoader

from graphcon.data import convert, load
from graphcon.errors import InputError


def test_a_pyg_dataset_with_masks_keeps_its_split():
    club = KarateClub()
    club[0].val_mask = ~club[0].train_mask
    graph = club[0]
    graph.val_mask = torch.zeros_like(graph.train_mask)
    graph.test_mask = ~graph.train_mask
    dataset = convert.from_pyg(graph, name="karate")
    assert (dataset.task, dataset.kind, dataset.num_outputs) == ("node", "classification", 4)
    assert torch.equal(dataset.split.mask("train"), graph.train_mask)
    assert not dataset.directed


def test_a_pyg_graph_without_masks_is_split_at_random_by_seed():
    graph = Data(x=torch.randn(20, 3), edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.arange(20) % 2)
    first, second = (convert.from_pyg(graph, seed=seed) for seed in (0, 1))
    assert first.directed
    assert not torch.equal(first.split.train, second.split.train)
    assert "17 isolated nodes, kept" in " ".join(first.notes)


def test_many_pyg_graphs_are_a_graph_task_with_categories():
    molecules = load("solubility").graphs[:50]
    dataset = convert.from_pyg(molecules, name="molecules")
    assert (dataset.task, dataset.kind) == ("graph", "regression")
    assert len(dataset.num_categories) == 7
    assert len(dataset.num_edge_categories) == 3
    assert next(iter(DataLoader(dataset.part("train"), batch_size=30))).num_graphs == 30


def test_the_graphs_of_a_part_are_taken_by_place_and_by_slice():
    part = load("solubility").part("train")
    some = part[10:30]
    assert len(some) == 20
    assert some[-1] is part[29]
    assert [id(graph) for graph in some[::-1]] == [id(part[place]) for place in range(29, 9, -1)]
    with pytest.raises(IndexError):
        some[20]


def test_a_networkx_graph_keeps_nodes_edges_and_attributes():
    graph = nx.karate_club_graph()
    for node, attributes in graph.nodes(data=True):
        attributes["age"] = float(node)
    dataset, schema = convert.from_networkx(graph, target="club", scaling="none")
    data = dataset.data
    assert data.num_nodes == 34
    assert data.num_edges == 2 * graph.number_of_edges()
    assert dataset.class_names == ("Mr. Hi", "Officer")
    assert data.x.flatten().tolist() == list(range(34))
    assert data.edge_weight[0] == graph.edges[0, 1]["weight"]
    assert schema.target.names == ("club",)
    pairs = {tuple(sorted(pair)) for pair in data.edge_index.t().tolist()}
    assert pairs == {tuple(sorted(pair)) for pair in graph.edges}


def test_a_directed_networkx_graph_stays_directed_and_reserved_names_are_refused():
    graph = nx.DiGraph([(0, 1), (1, 2), (2, 3)])
    nx.set_node_attributes(graph, {node: {"f": node, "label": "uv"[node % 2]} for node in graph})
    dataset, _ = convert.from_networkx(graph, target="label")
    assert dataset.directed
    assert dataset.data.edge_index.tolist() == [[0, 1, 2], [1, 2, 3]]
    nx.set_node_attributes(graph, 1, "id")
    with pytest.raises(InputError, match="node attribute 'id' has a reserved name"):
        convert.from_networkx(graph, target="label")


def test_graphml_is_read_as_its_graph(tmp_path):
    graph = nx.karate_club_graph()
    nx.set_node_attributes(graph, {node: float(node**2) for node in graph}, "f")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    direct, _ = convert.from_networkx(graph, target="club")
    read, _ = convert.from_graphml(tmp_path / "g.graphml", target="club")
    assert torch.equal(read.data.x, direct.data.x)
    assert torch.equal(read.data.edge_index, direct.data.edge_index)
    (tmp_path / "bad.graphml").write_text("<nothing")
    with pytest.raises(InputError, match=r"bad.graphml: is no GraphML file"):
        convert.from_graphml(tmp_path / "bad.graphml", target="club")


@pytest.fixture
def benchmark_file(tmp_path):
    rng = np.random.default_rng(0)
    adjacency = sp.random(30, 30, 0.1, "csr", rng=rng, data_rvs=np.ones)
    features = sp.random(30, 12, 0.3, "csr", rng=rng)
    path = tmp_path / "graph.npz"
    arrays = {"labels": np.arange(30) % 3}
    for name, matrix in (("adj", adjacency), ("attr", features)):
        for part in ("data", "indices", "indptr", "shape"):
            arrays[f"{name}_{part}"] = np.array(getattr(matrix, part))
    np.savez(path, **arrays)
    return path, arrays, adjacency


def test_the_npz_of_gnn_benchmark_agrees_with_pyg(benchmark_file):
    path, _, adjacency = benchmark_file
    ours, theirs = convert.from_npz(path).data, read_npz(str(path), to_undirected=True)
    # PyG leaves self-loops out, and keeps only whether a feature is there.
    loops = ours.edge_index[0] == ours.edge_index[1]
    assert torch.equal(ours.edge_index[:, ~loops], theirs.edge_index)
    assert int(loops.sum()) == int((adjacency.diagonal() > 0).sum())
    assert torch.equal((ours.x > 0).float(), (theirs.x > 0).float())
    assert torch.equal(ours.y, theirs.y)
    assert convert.from_npz(path, directed=True).data.num_edges == adjacency.nnz


def test_an_npz_in_another_layout_is_told_what_it_lacks(benchmark_file, tmp_path):
    _, arrays, _ = benchmark_file
    np.savez(tmp_path / "other.npz", **{key: value for key, value in arrays.items() if key != "adj_indptr"})
    with pytest.raises(InputError, match=r"other.npz: lacks adj_indptr"):
        convert.from_npz(tmp_path / "other.npz")
    np.savez(tmp_path / "short.npz", **(arrays | {"labels": np.arange(5)}))
    with pytest.raises(InputError, match=r"array 'labels': must hold an integer per node \(30\)"):
        convert.from_npz(tmp_path / "short.npz")


@pytest.mark.parametrize(
    ("name", "change", "rule"),
    [
        ("attr_indices", lambda a: a + 12, "integers from 0 to 11"),
        ("adj_indices", lambda a: a - 1, "integers from 0 to 29"),
        ("adj_indices", lambda a: a[:-1], "integers from 0 to 29"),
        ("adj_indptr", lambda a: a[[0, *range(2, len(a)), 1]], "31 integers that begin with 0 and never fall"),
        ("attr_indptr", lambda a: a[:-1], "31 integers that begin with 0 and never fall"),
        ("attr_indptr", lambda a: a.astype(float), "31 integers that begin with 0 and never fall"),
        ("attr_shape", lambda a: a[:1], "2 integers, rows and columns"),
        ("attr_data", lambda a: a[:-1], "numbers"),
        ("attr_data", lambda a: a.astype(str), "numbers"),
    ],
)
def test_a_damaged_npz_is_told_the_array_and_the_rule(name, change, rule, benchmark_file, tmp_path):
    _, arrays, _ = benchmark_file
    np.savez(tmp_path / "bad.npz", **(arrays | {name: change(arrays[name])}))
    with pytest.raises(InputError, match=rf"bad.npz, array '{name}': must hold .*{rule}"):
        convert.from_npz(tmp_path / "bad.npz")


def test_half_an_npz_is_no_npz(benchmark_file):
    path, _, _ = benchmark_file
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match=r"graph.npz: is no plain npz file"):
        convert.from_npz(path)


def test_whole_numbers_below_zero_are_values_where_the_kind_says_so():
    graph = Data(x=torch.randn(10, 3), edge_index=torch.tensor([[0], [1]]), y=torch.arange(10) - 5)
    dataset = convert.from_pyg(graph, kind="regression")
    assert sum(len(index) for _, index in dataset.split.parts()) == 10
    assert dataset.data.y.tolist() == list(range(-5, 5))
    assert graph.y.dtype == torch.int64


def _graphs(*targets) -> list[Data]:
    return [Data(x=torch.randn(4, 3), edge_index=torch.tensor([[0], [1]]), y=y) for y in targets]


@pytest.mark.parametrize(
    ("make", "kind", "dtype"),
    [
        (lambda n: torch.tensor(n % 2), "classification", torch.int64),
        (lambda n: n % 2, "classification", torch.int64),
        (lambda n: bool(n % 2), "classification", torch.int64),
        (lambda n: torch.tensor([n % 2], dtype=torch.int32), "classification", torch.int64),
        (lambda n: torch.tensor([n % 2 == 0]), "classification", torch.int64),
        (lambda n: np.int16(n % 2), "classification", torch.int64),
        (lambda n: torch.tensor(n / 3), "regression", torch.float32),
        (lambda n: n / 3, "regression", torch.float32),
        (lambda n: torch.tensor([[n % 2, 1, 0]], dtype=torch.uint8), "multilabel", torch.float32),
    ],
)
def test_a_graph_may_have_its_target_as_any_number(make, kind, dtype):
    graphs = _graphs(*map(make, range(20)))
    dataset = convert.from_pyg(graphs)
    assert (dataset.task, dataset.kind) == ("graph", kind)
    for number, graph in enumerate(dataset.graphs):
        assert graph.y.dtype == dtype
        assert torch.equal(graph.y, torch.as_tensor(make(number)).to(dtype).reshape(graph.y.shape))
        assert graph.y.size(0) == 1
    assert type(graphs[0].y) is type(make(0))


def test_classes_of_nodes_may_be_of_any_whole_type():
    graph = Data(x=torch.randn(20, 3), edge_index=torch.tensor([[0], [1]]), y=torch.arange(20) % 2)
    expected = convert.from_pyg(graph).split
    for dtype in (torch.bool, torch.uint8, torch.int32):
        dataset = convert.from_pyg(graph.clone().update({"y": graph.y.to(dtype)}))
        assert (dataset.kind, dataset.num_outputs, dataset.data.y.dtype) == ("classification", 2, torch.int64)
        assert torch.equal(dataset.split.train, expected.train)


def test_whole_zeros_and_ones_in_several_columns_are_labels_and_other_numbers_are_refused():
    graph = Data(x=torch.randn(20, 3), edge_index=torch.tensor([[0], [1]]), y=torch.randint(2, (20, 4)))
    dataset = convert.from_pyg(graph)
    assert (dataset.kind, dataset.num_outputs, dataset.data.y.dtype) == ("multilabel", 4, torch.float32)
    graph.y[3, 1] = 7
    with pytest.raises(InputError, match=r"y has 4 columns of whole numbers up to 7\. .*y\.float\(\)"):
        convert.from_pyg(graph)


def test_a_mask_without_columns_belongs_to_every_split():
    train, val = torch.zeros(12, 3, dtype=torch.bool), torch.zeros(12, 3, dtype=torch.bool)
    for column in range(3):
        train[column, column], val[column + 3, column] = True, True
    graph = Data(x=torch.randn(12, 3), edge_index=torch.tensor([[0], [1]]), y=torch.arange(12) % 2)
    graph.update({"train_mask": train, "val_mask": val, "test_mask": torch.arange(12) > 7})  # as WikiCS has them
    split = convert.from_pyg(graph, seed=2).split
    assert [part.tolist() for _, part in split.parts()] == [[2], [5], [8, 9, 10, 11]]
    for mask in (graph.test_mask[:5], val[:, :2]):
        with pytest.raises(InputError, match=r"test_mask: has shape .* must have \[12\] or \[12, 3\]"):
            convert.from_pyg(graph.clone().update({"test_mask": mask}))


def test_nodes_of_a_part_without_a_target_are_refused():
    graph = Data(x=torch.randn(12, 3), edge_index=torch.tensor([[0], [1]]), y=torch.arange(12) % 2)
    for number, part in enumerate(("train", "val", "test")):
        graph[f"{part}_mask"] = torch.arange(12) // 4 == number
    for missing, y in ((-1, graph.y.clone()), ("nan", torch.rand(12))):
        y[5] = float(missing) if missing == "nan" else missing
        with pytest.raises(InputError, match=rf"y\[5\] = {missing}: is no target, but node 5 is in val.*val_mask"):
            convert.from_pyg(graph.clone().update({"y": y}))


@pytest.mark.parametrize(
    ("source", "cure"),
    [
        (DataLoader(_graphs(0, 1)), "is a DataLoader.*loader.dataset"),
        (Batch.from_data_list(_graphs(torch.tensor([0]), torch.tensor([1]))), r"is a Batch.*batch.to_data_list\(\)"),
        (HeteroData(), r"is a HeteroData.*to_homogeneous\(\)"),
        ([], "holds no graph"),
    ],
)
def test_graphs_in_another_form_are_refused_with_the_way_to_them(source, cure):
    with pytest.raises(InputError, match=cure):
        convert.from_pyg(source)


def test_targets_of_another_length_are_refused():
    with pytest.raises(InputError, match=r"y has shape \[3\]\. .*y\.view\(1, -1\) has, or a row for each of the 4"):
        convert.from_pyg(_graphs(torch.rand(3))[0])
    with pytest.raises(InputError, match=r"graph 1: y has shape \[3\]\. It must have a row for each of the 4 nodes"):
        convert.from_pyg(_graphs(torch.rand(4), torch.rand(3)))
    with pytest.raises(InputError, match="y is a str"):
        convert.from_pyg(_graphs("red"))


@pytest.mark.parametrize("what", ["edge_weight", "edge_attr"])
def test_numbers_of_edges_must_be_finite(what):
    (graph,) = _graphs(torch.arange(4) % 2)
    graph[what] = torch.tensor([float("nan")])
    with pytest.raises(InputError, match=rf"{what}\[0\]: must be a finite number"):
        convert.from_pyg(graph)


def test_bad_pyg_graphs_are_refused():
    graph = Data(x=torch.randn(4, 3), edge_index=torch.tensor([[0], [9]]), y=torch.arange(4) % 2)
    with pytest.raises(InputError, match="edge_index names node 9"):
        convert.from_pyg(graph)
    graph = Data(x=torch.full((4, 3), float("nan")), edge_index=torch.tensor([[0], [1]]), y=torch.arange(4))
    with pytest.raises(InputError, match=r"x\[0, 0\]: must be a finite number"):
        convert.from_pyg(graph)
    with pytest.raises(InputError, match="has no y"):
        convert.from_pyg(Data(x=torch.randn(4, 3), edge_index=torch.tensor([[0], [1]])))
