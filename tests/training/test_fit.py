"""A model of one's own, trained from Python."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import torch
from lightning_fabric import Fabric
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import graphcon
from graphcon import GraphCON
from graphcon.data import Split
from graphcon.errors import InputError
from graphcon.models import GraphCONNet
from graphcon.training.batches import Batches
from graphcon.training.config import DataConfig
from graphcon.training.folder import RunFolder


def test_a_model_of_ones_own_is_fitted_by_the_same_loop():
    from torch_geometric.nn.models import GCN

    torch.manual_seed(0)
    dataset = graphcon.data.load("cora")
    model = GCN(1433, 16, 2, 7, dropout=0.5)
    fitted = graphcon.fit(model, dataset, epochs=20, lr=0.01)
    assert fitted.metric == "accuracy"
    assert fitted.value > 0.5
    trained = graphcon.fit(GCN(1433, 16, 2, 7), dataset.data, split=dataset.split, epochs=3)
    assert trained.epochs == 3


def _small_graph(shift: int = 0) -> Data:
    generator = torch.Generator().manual_seed(0)
    nodes = torch.arange(60)
    return Data(
        x=torch.randn(60, 5, generator=generator),
        edge_index=torch.randint(60, (2, 200), generator=generator),
        y=(torch.randint(3, (60,), generator=generator) + shift) % 3,
        train_mask=nodes < 20,
        val_mask=(nodes >= 20) & (nodes < 40),
        test_mask=nodes >= 40,
    )


def test_fitting_leaves_the_random_numbers_of_others_alone():
    model = GraphCONNet(5, 8, 2, 3, dropout=0.5)
    before = torch.get_rng_state()
    graphcon.fit(model, _small_graph(), epochs=2)
    assert torch.equal(before, torch.get_rng_state())


def test_the_graph_of_the_user_stays_on_its_device():
    dataset = graphcon.data.convert.from_pyg(_small_graph())
    elsewhere = SimpleNamespace(device=torch.device("meta"))
    (batch,) = Batches(dataset, DataConfig(), 0, cast(Fabric, elsewhere)).of("train")
    assert batch.data.x.device.type == "meta"
    assert dataset.data.x.device.type == "cpu"


def test_a_fitted_model_is_measured_on_any_part_and_left_as_it_is():
    torch.manual_seed(0)
    graph, model = _small_graph(), GraphCONNet(5, 8, 2, 3, dropout=0.5)
    fitted = graphcon.fit(model, graph, epochs=10)
    model.train()
    model.encoder.eval()
    before = torch.get_rng_state()
    measured = {part: graphcon.evaluate(model, graph, part) for part in ("train", "val", "test")}
    assert measured["val"]["accuracy"] == pytest.approx(fitted.value)
    assert model.training
    assert not model.encoder.training
    assert torch.equal(before, torch.get_rng_state())

    with torch.no_grad():
        right = model.eval()(graph.x, graph.edge_index).argmax(-1) == graph.y
    for part, mask in (("train", graph.train_mask), ("test", graph.test_mask)):
        assert measured[part]["accuracy"] == pytest.approx(right[mask].float().mean().item())


def test_many_graphs_are_measured_in_batches_and_with_the_split_they_were_fitted_with():
    graphs = [_small_graph(shift) for shift in range(3)] * 10
    for number, graph in enumerate(graphs := [Data(x=one.x, edge_index=one.edge_index) for one in graphs]):
        graph.y = torch.tensor([float(number)])
    model = GraphCONNet(5, 8, 2, 1, task="graph")
    fitted = graphcon.fit(model, graphs, epochs=2, seed=3)
    assert graphcon.evaluate(model, graphs, "val", seed=3, batch_size=2)[fitted.metric] == pytest.approx(fitted.value)


def test_a_part_that_is_not_there_is_refused_with_those_that_are():
    graph = _small_graph()
    split = Split("own", torch.arange(30), torch.arange(30, 60), torch.arange(0), size=60)
    with pytest.raises(InputError, match=r"part='test': .* has train, val"):
        graphcon.evaluate(GraphCONNet(5, 8, 2, 3), graph, split=split)
    with pytest.raises(InputError, match="part='valid'"):
        graphcon.evaluate(GraphCONNet(5, 8, 2, 3), graph, "valid")
    with pytest.raises(TypeError, match="load it first"):
        graphcon.evaluate(GraphCONNet(5, 8, 2, 3), "cora")  # pyright: ignore[reportArgumentType]  # that is the mistake


def test_a_folder_of_another_training_is_not_gone_on_with(tmp_path: Path):
    torch.manual_seed(0)
    first = graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), epochs=2, out=tmp_path)
    assert (first.epochs, graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), epochs=4, out=tmp_path).epochs) == (
        2,
        4,
    )
    for model, data, lr, what in (
        (GraphCONNet(5, 16, 2, 3), _small_graph(), 0.01, "model"),
        (GraphCONNet(5, 8, 2, 3), _small_graph(shift=1), 0.01, "data"),
        (GraphCONNet(5, 8, 2, 3), _small_graph(), 0.5, "settings"),
    ):
        with pytest.raises(InputError, match=f"holds a training with other {what}: name another folder"):
            graphcon.fit(model, data, epochs=4, lr=lr, out=tmp_path)
    (tmp_path / "fit.json").write_text('{"settings": ')
    with pytest.raises(InputError, match=r"fit\.json: cannot be read \(.*\)\. Delete it"):
        graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), epochs=4, out=tmp_path)


def test_a_device_that_is_not_there_is_refused_and_leaves_no_folder(tmp_path: Path):
    if torch.cuda.is_available():
        pytest.skip("it is there")
    model = GraphCONNet(5, 8, 2, 3)
    with pytest.raises(InputError, match=r"trainer\.accelerator = 'cuda'"):
        graphcon.fit(model, _small_graph(), accelerator="cuda", out=tmp_path / "fit")
    with pytest.raises(InputError, match=r"trainer\.accelerator = 'cuda'"):
        graphcon.evaluate(model, _small_graph(), accelerator="cuda")
    assert not (tmp_path / "fit").exists()


def test_what_cannot_be_fitted_is_refused_by_name():
    with pytest.raises(InputError, match="optimizer.name.*'Adam'"):
        graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), optimizer="Adam")
    with pytest.raises(InputError, match="the model has 2 outputs, but the target has 3 classes"):
        graphcon.fit(GraphCONNet(5, 8, 2, 2), _small_graph(), epochs=1)


def test_a_split_of_ones_own_is_used_with_a_data_set_too():
    dataset = graphcon.data.convert.from_pyg(_small_graph())
    own = Split("own", torch.arange(3), torch.arange(3, 6), torch.arange(6, 60), 60, "node")
    seen = []

    class Watching(GraphCONNet):
        def forward(self, x, edge_index):
            out = super().forward(x, edge_index)
            if self.training:
                out.register_hook(lambda grad: seen.append(grad.abs().sum(1).nonzero().flatten().tolist()))
            return out

    graphcon.fit(Watching(5, 8, 2, 3), dataset, split=own, epochs=1)
    assert seen == [[0, 1, 2]]
    with pytest.raises(InputError, match="divides 9 nodes, but data has 60 nodes to divide"):
        graphcon.fit(
            GraphCONNet(5, 8, 2, 3),
            dataset,
            split=Split("own", *(torch.arange(3 * i, 3 * i + 3) for i in range(3)), 9, "node"),
        )
    with pytest.raises(TypeError, match=r"data='cora' is a name: load it first"):
        graphcon.fit(GraphCONNet(5, 8, 2, 3), "cora")  # pyright: ignore[reportArgumentType]  # that is the mistake


def test_a_column_of_classes_is_taken_as_ogb_has_it():
    data, column = _small_graph(), _small_graph()
    column.y = column.y.view(-1, 1)
    results = []
    for graph in (data, column):
        torch.manual_seed(0)
        results.append(graphcon.fit(GraphCONNet(5, 8, 2, 3), graph, epochs=2).value)
    assert results[0] == results[1]
    assert column.y.shape == (60, 1)


def test_a_bare_oscillator_is_fitted_too():
    data = _small_graph()
    data.y = torch.arange(60) % 5
    assert graphcon.fit(GraphCON(GCNConv(5, 5), 2), data, epochs=2).epochs == 2


def test_a_folder_is_for_one_training_at_a_time(tmp_path: Path):
    from torch_geometric.nn.models import GCN

    with RunFolder(tmp_path).held(), pytest.raises(InputError, match="another process is training this run"):
        graphcon.fit(GCN(1433, 4, 1, 7), graphcon.data.load("cora"), epochs=1, out=tmp_path)
