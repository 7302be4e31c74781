"""The data inside the package: real, whole, small."""

import hashlib
from importlib.resources import files

import numpy as np
import pytest
import torch
from torch_geometric.utils import is_undirected

from graphcon import data
from graphcon.data import embedded


@pytest.mark.parametrize("name", embedded.CHECKSUMS)
def test_embedded_file_is_small_and_the_one_that_was_checked_in(name):
    content = files("graphcon.data.embedded").joinpath(name).read_bytes()
    assert len(content) < 250_000
    assert hashlib.sha256(content).hexdigest() == embedded.CHECKSUMS[name]


def test_cora_has_the_published_counts():
    graph, class_names = embedded.cora()
    assert graph.x.shape == (2708, 1433)
    assert graph.edge_index.shape == (2, 10_556)
    assert is_undirected(graph.edge_index)
    assert len(class_names) == 7
    assert dict(zip(class_names, graph.y.bincount().tolist(), strict=True)) == {
        "Neural Networks": 818,
        "Rule Learning": 180,
        "Reinforcement Learning": 217,
        "Probabilistic Methods": 426,
        "Theory": 351,
        "Genetic Algorithms": 418,
        "Case Based": 298,
    }
    assert graph.x.sum() == 49_216
    assert set(graph.x.unique().tolist()) == {0.0, 1.0}


def test_solubility_has_1025_and_257_molecules_within_the_stated_ranges():
    molecules, is_test, facts = embedded.solubility()
    assert (len(molecules), int(is_test.sum())) == (1282, 257)
    assert not is_test[:1025].any()
    atoms = torch.cat([molecule.x for molecule in molecules])
    bonds = torch.cat([molecule.edge_attr for molecule in molecules])
    assert atoms.shape == (16_669, 7)
    assert bonds.shape == (34_302, 3)
    assert (atoms.max(dim=0).values < torch.tensor(facts["atom_sizes"])).all()
    assert (bonds.max(dim=0).values < torch.tensor(facts["bond_sizes"])).all()
    pentane = molecules[0]
    assert pentane.smiles == "CCCCC"
    assert float(pentane.y) == pytest.approx(-3.18)
    assert pentane.pos.shape == (5, 2)


def test_bonds_connect_atoms_as_the_features_say():
    for molecule in embedded.solubility()[0]:
        degree = torch.zeros(molecule.num_nodes, dtype=torch.long).index_add_(
            0, molecule.edge_index[1], torch.ones(molecule.num_edges, dtype=torch.long)
        )
        assert torch.equal(degree, molecule.x[:, 1]), molecule.smiles
        # Bonded atoms are about a drawing unit apart: coordinates belong to these atoms.
        lengths = (molecule.pos[molecule.edge_index[0]] - molecule.pos[molecule.edge_index[1]]).norm(dim=1)
        assert lengths.min() > 0.5, molecule.smiles
        assert lengths.max() < 4.0, molecule.smiles


def test_loading_needs_neither_files_nor_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path / "none"))
    assert data.load("cora").num_outputs == 7
    assert data.load("solubility").kind == "regression"
    assert not (tmp_path / "none").exists()


def test_embedded_cora_is_the_planetoid_graph_in_another_order(benchmark_root):
    """Words, labels and citations agree once papers are matched by word counts, labels and neighbourhoods."""
    ours, our_names = embedded.cora()
    theirs = data.load("cora", benchmark_root, protocol="public")

    def fingerprints(x, edge_index, labels):
        # A colour refinement: what a paper, its neighbours and their neighbours look like, without any
        # numbering.
        words = np.sort(x.sum(dim=0).numpy())
        colour = [hash((label, int(count))) for label, count in zip(labels, x.sum(dim=1), strict=True)]
        for _ in range(4):
            around = [[] for _ in colour]
            for source, target in edge_index.t().tolist():
                around[target].append(colour[source])
            colour = [hash((own, tuple(sorted(others)))) for own, others in zip(colour, around, strict=True)]
        return words.tolist(), sorted(colour)

    our_labels = [our_names[label] for label in ours.y.tolist()]
    their_labels = [theirs.class_names[label] for label in theirs.data.y.tolist()]
    assert fingerprints(ours.x, ours.edge_index, our_labels) == fingerprints(
        theirs.data.x, theirs.data.edge_index, their_labels
    )
