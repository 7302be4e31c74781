"""One large graph in pieces: Cluster-GCN's groups of clusters, VR-GCN's few neighbours with a history."""

from dataclasses import replace

import pytest
import torch
from lightning_fabric import Fabric
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from graphcon import data as datasets
from graphcon.errors import InputError
from graphcon.models import find
from graphcon.training import loop, run
from graphcon.training.batches import Batches
from graphcon.training.clusters import ClusterBatches, partition
from graphcon.training.config import DataConfig, ModelConfig, Recipe, TrainerConfig
from graphcon.training.folder import RunFolder
from graphcon.training.history import HistoryBatches, Neighbours
from graphcon.training.model import build
from graphcon.training.spec import TaskSpec

from graphs import random_graph

pytest.importorskip("pymetis", reason="cluster-gcn needs the extra scale")
TRAIN = torch.arange(0, 40, 2)


def _graph(nodes: int = 40) -> Data:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(nodes, 5, generator=generator)
    return Data(x=x, edge_index=random_graph(nodes, 60, undirected=True), y=torch.arange(nodes) % 3)


def _gcn(**changes):
    torch.manual_seed(0)
    config = replace(ModelConfig(name="gcn", channels=8, steps=3), **changes)
    return build(config, TaskSpec("node", "classification", 3, 5))


def test_clusters_divide_the_nodes_evenly_and_cut_few_edges():
    graph = _graph()
    cluster = partition(graph.edge_index, 40, 4)
    sizes = cluster.bincount(minlength=4)
    assert sizes.sum() == 40
    assert sizes.min() >= 5
    random = torch.arange(40)[torch.randperm(40, generator=torch.Generator().manual_seed(0))] % 4
    cut, cut_at_random = ((part[graph.edge_index[0]] != part[graph.edge_index[1]]).sum() for part in (cluster, random))
    assert cut < cut_at_random


@pytest.mark.parametrize("epoch", [0, 1])
def test_the_batches_of_an_epoch_hold_every_training_node_once(epoch: int):
    graph = _graph()
    graph.number = torch.arange(40)
    batches = ClusterBatches(graph, TRAIN, clusters=8, per_batch=3, seed=0)
    assert len(batches) == 3
    counted = torch.cat([batch.data.number[batch.index] for batch in batches.of(epoch)])
    assert counted.sort().values.equal(TRAIN)


def test_a_batch_keeps_the_edges_between_its_clusters_and_only_those_inside():
    graph = _graph()
    graph.number = torch.arange(40)
    for batch in ClusterBatches(graph, TRAIN, clusters=8, per_batch=4, seed=0).of(0):
        inside = torch.isin(graph.edge_index, batch.data.number).all(0)
        expected = {tuple(edge) for edge in graph.edge_index[:, inside].t().tolist()}
        assert {tuple(edge) for edge in batch.data.number[batch.data.edge_index].t().tolist()} == expected
        assert batch.data.x.equal(graph.x[batch.data.number])


def test_all_clusters_in_one_batch_are_the_whole_graph():
    graph, model = _graph(), _gcn().eval()
    (batch,) = ClusterBatches(graph, TRAIN, clusters=5, per_batch=5, seed=0).of(0)
    torch.testing.assert_close(batch.run(model), model(graph.x, graph.edge_index)[TRAIN])


@pytest.mark.parametrize(("clusters", "per_batch"), [(0, 1), (4, 5), (41, 1)])
def test_impossible_clusters_are_refused(clusters: int, per_batch: int):
    with pytest.raises(InputError, match="of 40 nodes, between 1 and 40 clusters"):
        ClusterBatches(_graph(), TRAIN, clusters, per_batch, 0)


@pytest.mark.parametrize("act_on", ["first", "last", "none"])
def test_with_all_neighbours_the_estimate_is_the_whole_forward_whatever_the_history(act_on: str):
    graph, model = _graph(), _gcn(act="tanh", act_on=act_on).eval()
    batches = HistoryBatches(graph, TRAIN, 7, neighbors=40, seed=0)
    batches.kept = torch.randn(3, 40, 8)
    expected = model(graph.x, graph.edge_index)
    for batch in batches.of(0):
        torch.testing.assert_close(batch.run(model), expected[batch.nodes], rtol=1e-4, atol=1e-5)


def test_with_an_exact_history_few_neighbours_give_the_whole_forward():
    graph, model = _graph(), _gcn().eval()
    for batch in HistoryBatches(graph, TRAIN, 7, neighbors=1, seed=0).of(0):
        torch.testing.assert_close(batch.run(model), model(graph.x, graph.edge_index)[batch.nodes])


def test_a_part_that_is_frozen_stays_so_when_the_history_begins():
    graph, model = _graph(), _gcn(dropout=0.5)
    model.net.encoder.eval()
    (batch,) = HistoryBatches(graph, TRAIN, 20, neighbors=2, seed=0).of(0)
    batch.run(model)
    assert not model.net.encoder.training
    assert model.net.core.dropout.training


def test_the_history_holds_what_was_computed_last():
    graph, model = _graph(), _gcn().eval()
    batches = HistoryBatches(graph, TRAIN, 20, neighbors=40, seed=0)
    batches.kept = torch.zeros(3, 40, 8)
    (batch,) = batches.of(0)
    batch.run(model)
    states = model.net.core.trajectory(model.net.start(graph.x), graph.edge_index)
    fresh = batches.kept[-1].abs().sum(-1) > 0
    assert bool(fresh[TRAIN].all())
    torch.testing.assert_close(batches.kept[-1][fresh], states[2][fresh], rtol=1e-4, atol=1e-5)


def test_gradients_of_the_estimate_are_those_of_the_whole_forward():
    graph = _graph()
    grads = []
    for way in ("pieces", "whole"):
        model = _gcn()
        if way == "pieces":
            (batch,) = HistoryBatches(graph, TRAIN, 20, neighbors=40, seed=0).of(0)
            out = batch.run(model)[batch.nodes.argsort()]
        else:
            out = model(graph.x, graph.edge_index)[TRAIN]
        out.square().sum().backward()
        grads.append([parameter.grad for parameter in model.parameters()])
    for piece, whole in zip(*grads, strict=True):
        torch.testing.assert_close(piece, whole, rtol=1e-4, atol=1e-5)


def test_drawn_rows_have_the_mean_of_the_whole_matrix():
    edge_index = random_graph(12, 30, undirected=True)
    around = Neighbours(edge_index, torch.rand(edge_index.size(1)), 12)
    rows, x = torch.tensor([3, 0, 7]), torch.randn(12, 2)
    drawn = around.draw(rows.repeat(4000), 2, torch.Generator().manual_seed(0))
    assert drawn.row.bincount().max() <= 3  # two neighbours, and the node itself where it has a loop
    mean = drawn.sums(x, 12000).view(4000, 3, 2).mean(0)
    torch.testing.assert_close(mean, around.of(rows).sums(x, 3), rtol=0, atol=0.1)


@pytest.mark.parametrize("batching", ["cluster-gcn", "vr-gcn"])
def test_a_run_in_pieces_that_was_stopped_goes_on_to_the_same_bits(batching: str, tmp_path):
    recipe = Recipe(
        data=DataConfig(name="cora", batching=batching, clusters=12, clusters_per_batch=4, batch_size=70),
        model=ModelConfig(name="gcn", channels=8, steps=2, dropout=0.3),
        trainer=TrainerConfig(epochs=4, threads=1, checkpoint_seconds=0.0),
    )
    whole = run.train(recipe, tmp_path / "whole")
    assert run.train(replace(recipe, trainer=replace(recipe.trainer, epochs=2)), tmp_path / "parts") is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "stop_requested", lambda: True)
        assert run.train(recipe, tmp_path / "parts", resume=True) is None
    state = RunFolder(tmp_path / "parts").load_checkpoint()
    assert state is not None
    assert (state["epoch"], state["batch"]) == (2, 1)
    resumed = run.train(recipe, tmp_path / "parts", resume=True)
    assert whole == resumed
    one, two = (run.load(tmp_path / name).model.state_dict() for name in ("whole", "parts"))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_what_cannot_be_trained_in_pieces_is_refused():
    molecules = datasets.load("solubility")
    with pytest.raises(InputError, match="is many graphs, which make batches as they are: leave it out"):
        Batches(molecules, DataConfig(batching="cluster-gcn"), 0, Fabric(accelerator="cpu"))
    (batch,) = HistoryBatches(_graph(), TRAIN, 20, neighbors=2, seed=0).of(0)
    with pytest.raises(InputError, match="vr-gcn' trains a plain gcn: use model.name = 'gcn'"):
        batch.run(_gcn(name="gat"))


def test_the_diagonal_of_cluster_gcn_can_be_enhanced():
    graph = _graph()
    plain, enhanced = (find("cluster-gcn").build(5, 8, 2, 3, diag_lambda=value) for value in (0.0, 1.0))
    enhanced.load_state_dict(plain.state_dict())
    layer, state = enhanced.core.layers[0], enhanced.start(graph.x)
    degree = torch.bincount(graph.edge_index[1], minlength=40) + 1.0
    difference = layer(state, graph.edge_index) - plain.core.layers[0](state, graph.edge_index)
    torch.testing.assert_close(
        difference, layer.lin_out(state / degree[:, None]) - layer.lin_out.bias, rtol=1e-4, atol=1e-5
    )
    assert not any(isinstance(part, GCNConv) for part in enhanced.modules())
