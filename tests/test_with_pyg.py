"""Oscillators among PyG's own tools, as the guide shows them."""

import re
from pathlib import Path

import pytest
import torch
from torch_geometric.data import HeteroData
from torch_geometric.nn import GCNConv, SAGEConv, Sequential, to_hetero
from torch_geometric.utils import k_hop_subgraph

import graphcon
from graphcon import GraphCON, kernels
from graphcon.diagnostics import trajectory_table
from graphcon.models import GraphCONNet

from graphs import random_graph

GUIDE = (Path(__file__).parent.parent / "docs/guide.md").read_text()
SHOWN = GUIDE.split("## With the rest of PyG")[1].split("\n## ")[0]
EXPLAINER, HETERO = re.findall(r"```python\n(.*?)```", SHOWN, flags=re.DOTALL)


def _hetero() -> HeteroData:
    generator = torch.Generator().manual_seed(0)
    hetero = HeteroData()
    for kind, number in (("author", 5), ("paper", 7)):
        hetero[kind].x = torch.randn(number, 64, generator=generator)
    hetero["author", "writes", "paper"].edge_index = torch.randint(5, (2, 9), generator=generator)
    hetero["paper", "cites", "paper"].edge_index = torch.randint(7, (2, 6), generator=generator)
    return hetero


def test_an_explainer_of_pyg_finds_the_edges_that_a_node_can_see():
    torch.manual_seed(0)
    x, edge_index = torch.randn(60, 5), random_graph(60, 30)
    model = GraphCONNet(5, 8, 2, 3).eval()
    assert kernels.enabled()  # the masks must reach the layers all the same
    names = {"model": model, "x": x, "edge_index": edge_index}
    exec(EXPLAINER.replace("epochs=100", "epochs=5"), names)
    mask = names["explanation"].edge_mask
    *_, near = k_hop_subgraph(10, 2, edge_index)
    assert (mask[near] > 0).any()
    assert (mask[~near] == 0).all()
    assert (~near).any()


def test_an_oscillator_is_a_layer_of_pygs_sequential():
    torch.manual_seed(0)
    layer, lin = GraphCON(GCNConv(5, 5), 4), torch.nn.Linear(5, 3)
    x, edge_index = torch.randn(20, 5), random_graph(20, 10)
    model = Sequential("x, edge_index", [(layer, "x, edge_index -> x"), torch.nn.ReLU(), lin])
    torch.testing.assert_close(model(x, edge_index), lin(layer(x, edge_index).relu()), rtol=0, atol=0)


def test_kinds_of_nodes_and_edges_become_one_graph():
    hetero = _hetero()
    names = {"hetero": hetero, "GraphCON": GraphCON}
    exec(HETERO, names)
    assert names["out"].shape == (12, 64)
    assert names["layer"].coupling.weight.size(0) == 2


def test_the_one_graph_of_all_kinds_is_trained_and_looked_at():
    hetero = _hetero()
    names = {"hetero": hetero, "GraphCON": GraphCON}
    exec(HETERO, names)
    graph, layer = names["graph"], names["layer"]
    graph.y = torch.randn(12, 64)
    assert graphcon.fit(layer, graph, epochs=1).epochs == 1
    assert len(trajectory_table(layer, graph)) == layer.steps + 1


@pytest.mark.parametrize(
    "model", [GraphCON(SAGEConv((64, 64), 64), 4), GraphCONNet(64, 64, 4, 3), GraphCONNet(64, 64, 4, coupling="sage")]
)
def test_what_would_be_traced_is_told_the_other_way(model: torch.nn.Module):
    with pytest.raises(TypeError, match=r"cannot be traced, as PyG's to_hetero would.*to_homogeneous\(\)"):
        to_hetero(model, _hetero().metadata())
