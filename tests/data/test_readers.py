"""The sets that must be fetched: small files in the published layouts are read as the real ones will be."""

import json
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from graphcon import data
from graphcon.errors import InputError


def test_ppi_is_many_graphs_with_labels_per_node_split_by_graph(tmp_path):
    raw, rng = tmp_path / "ppi" / "raw", np.random.default_rng(0)
    raw.mkdir(parents=True)
    for part, count in (("train", 20), ("valid", 2), ("test", 2)):
        num_nodes = 5 * count
        links = [{"source": 5 * g + i, "target": 5 * g + i + 1} for g in range(count) for i in range(4)]
        graph = {"directed": False, "multigraph": False, "graph": {}, "links": links}
        graph["nodes"] = [{"id": i} for i in range(num_nodes)]
        (raw / f"{part}_graph.json").write_text(json.dumps(graph))
        np.save(raw / f"{part}_feats.npy", rng.normal(size=(num_nodes, 50)))
        np.save(raw / f"{part}_labels.npy", rng.integers(0, 2, (num_nodes, 121)))
        np.save(raw / f"{part}_graph_id.npy", np.repeat(np.arange(count), 5) + 1)
    ppi = data.load("ppi", tmp_path, download=False)
    assert (ppi.task, ppi.kind, ppi.split.unit) == ("node", "multilabel", "graph")
    assert [index.numel() for _, index in ppi.split.parts()] == [20, 2, 2]
    assert ppi.graphs[0].y.shape == (5, 121)
    assert ppi.num_features == 50
    assert len(data.statistics(ppi).balance) == 121


@pytest.mark.parametrize(
    ("name", "file"),
    [("amazon-photo", "amazon_electronics_photo.npz"), ("coauthor-physics", "ms_academic_phy.npz")],
)
def test_co_occurrence_graphs_are_split_at_random_by_class(tmp_path, name, file):
    raw, rng = tmp_path / name.replace("-", "/") / "raw", np.random.default_rng(0)
    raw.mkdir(parents=True)
    arrays = {"labels": np.arange(60) % 3}
    for key, columns in (("adj", 60), ("attr", data.describe(name).features)):
        matrix = sp.random(60, columns, 0.05, "csr", rng=rng, data_rvs=np.ones)
        arrays |= {f"{key}_{part}": np.array(getattr(matrix, part)) for part in ("data", "indices", "indptr", "shape")}
    np.savez(raw / file, **arrays)
    dataset = data.load(name, tmp_path, download=False, seed=2)
    assert dataset.split.name == "random"
    assert dataset.data.y[dataset.split.train].bincount().tolist() == [12, 12, 12]
    assert data.statistics(dataset).undirected


def test_heterophilous_graphs_have_ten_splits(tmp_path):
    raw, rng = tmp_path / "heterophilous" / "roman_empire" / "raw", np.random.default_rng(0)
    raw.mkdir(parents=True)
    part = rng.permuted(np.tile(np.repeat([0, 1, 2], 10), (10, 1)), axis=1)
    np.savez(
        raw / "roman_empire.npz",
        node_features=rng.normal(size=(30, 300)).astype(np.float32),
        node_labels=np.arange(30) % 18,
        edges=rng.integers(0, 30, (50, 2)),
        **{f"{name}_masks": part == number for number, name in enumerate(("train", "val", "test"))},
    )
    dataset = data.load("roman-empire", tmp_path, download=False, seed=7)
    assert torch.equal(dataset.split.mask("val"), torch.from_numpy(part[7] == 1))


def test_peptides_say_how_many_values_their_categories_have(tmp_path):
    raw = tmp_path / "lrgb" / "peptides-func" / "raw"
    raw.mkdir(parents=True)
    x, edge_attr = torch.zeros(2, 9, dtype=torch.long), torch.zeros(2, 3, dtype=torch.long)
    edge_index = torch.tensor([[0, 1], [1, 0]])
    for part, count in zip(("train", "val", "test"), data.describe("peptides-func").sizes, strict=True):
        torch.save([(x, edge_attr, edge_index, torch.ones(1, 10))] * count, raw / f"{part}.pt")
    peptides = data.load("peptides-func", tmp_path, download=False)
    assert (peptides.kind, peptides.num_features) == ("multilabel", 0)
    assert len(peptides.num_categories) == 9
    assert len(peptides.num_edge_categories) == 3


def test_a_folder_with_too_few_graphs_is_refused(tmp_path):
    raw = tmp_path / "lrgb" / "peptides-struct" / "raw"
    raw.mkdir(parents=True)
    graph = (torch.zeros(2, 9, dtype=torch.long), None, torch.tensor([[0], [1]]), torch.ones(1, 11))
    for part in ("train", "val", "test"):
        torch.save([graph], raw / f"{part}.pt")
    with pytest.raises(InputError, match="are published"):
        data.load("peptides-struct", tmp_path, download=False)


@pytest.mark.skipif(find_spec("ogb") is not None, reason="ogb is installed")
def test_ogb_without_its_package_names_the_extra():
    with pytest.raises(InputError, match=r"pip install 'graphcon\[ogb\]'"):
        data.load("ogbn-arxiv")
