"""A model of one's own, trained from Python."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import torch
from lightning_fabric import Fabric
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, SimpleConv, global_mean_pool, models

import graphcon
from graphcon import GraphCON
from graphcon.data import Split
from graphcon.diagnostics import trajectory_table
from graphcon.errors import InputError
from graphcon.models import MODELS, GraphCONNet, StackNet
from graphcon.training.batches import Batches
from graphcon.training.config import DataConfig
from graphcon.training.folder import RunFolder

from graphs import ring


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


@pytest.mark.parametrize("width", [5, -1], ids=["known", "lazy"])
def test_fitting_leaves_the_random_numbers_of_others_alone(width: int, tmp_path: Path):
    model = GraphCONNet(width, 8, 2, 3, dropout=0.5)
    before = torch.get_rng_state()
    graphcon.fit(model, _small_graph(), epochs=2, out=tmp_path)
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


def _changed(**changes) -> Data:
    graph = _small_graph()
    graph.edge_weight = torch.ones(200)
    return graph.update(changes)


@pytest.mark.parametrize(
    ("options", "changes", "what"),
    [
        ({"input_dropout": 0.9}, {}, "model"),
        ({"act_on": "last"}, {}, "model"),
        ({"dt": 0.50000001}, {}, "model"),
        ({"add_self_loops": False}, {}, "model"),
        ({}, {"x": 100 * _small_graph().x}, "data"),
        ({}, {"edge_index": _small_graph().edge_index.flip(0)}, "data"),
        ({}, {"edge_weight": torch.full((200,), 2.0)}, "data"),
        ({}, {"y": _small_graph().y.where(_small_graph().train_mask, 0)}, "data"),
    ],
)
def test_no_option_of_the_model_and_nothing_of_the_data_is_taken_for_another(options, changes, what, tmp_path: Path):
    graphcon.fit(GraphCONNet(5, 8, 2, 3), _changed(), epochs=1, out=tmp_path)
    with pytest.raises(InputError, match=f"holds a training with other {what}: name another folder"):
        graphcon.fit(GraphCONNet(5, 8, 2, 3, **options), _changed(**changes), epochs=1, out=tmp_path)


@pytest.mark.parametrize(
    "build",
    [
        lambda: GraphCONNet(5, 8, 2, 3, coupling="gat", trainable=True, norm="batch"),
        lambda: models.GCN(-1, 8, 2, 3, cached=True),
        lambda: models.PNA(5, 8, 2, 3, aggregators=["mean", "std"], scalers=["identity"], deg=torch.ones(5).long()),
        lambda: MODELS["rev"].build(5, 8, 2, 3),
    ],
    ids=["oscillators", "lazy and cached", "PNA", "reversible"],
)
def test_the_same_training_goes_on_with_the_same_model_and_with_one_built_anew(build, tmp_path: Path):
    model = build()
    graphcon.fit(model, _small_graph(), epochs=1, out=tmp_path)
    assert graphcon.fit(model, _small_graph(), epochs=2, out=tmp_path).epochs == 2
    assert graphcon.fit(build(), _small_graph(), epochs=3, out=tmp_path).epochs == 3


def test_a_folder_that_an_earlier_version_left_is_not_taken_for_the_same_but_can_be(tmp_path: Path):
    graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), epochs=2, out=tmp_path)
    file = tmp_path / "fit.json"
    file.write_text(json.dumps({what: facts[0] for what, facts in json.loads(file.read_text()).items()}))
    with pytest.raises(InputError, match="holds a training with other model: name another folder"):
        graphcon.fit(GraphCONNet(5, 16, 2, 3), _small_graph(), epochs=4, out=tmp_path)
    with pytest.raises(InputError, match=r"of an earlier graphcon.*delete .*fit\.json, and fit goes on"):
        graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), epochs=4, out=tmp_path)
    file.unlink()
    assert graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), epochs=4, out=tmp_path).epochs == 4
    assert [json.loads(line)["epoch"] for line in (tmp_path / "log.jsonl").read_text().splitlines()] == [1, 2, 3, 4]


def test_a_place_that_is_taken_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "recipe.toml").write_text("")
    for place, message in (("file", "is a file, but a folder"), ("file/in", "is a file"), ("run", "graphcon train")):
        with pytest.raises(InputError, match=f"out='.*{place}'.*{message}"):
            graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), epochs=1, out=tmp_path / place)


def test_a_model_of_graphs_that_needs_the_batch_has_a_folder_too(tmp_path: Path):
    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = GCNConv(-1, 3)

        def forward(self, x, edge_index, batch):
            return global_mean_pool(self.conv(x, edge_index), batch)

    graphs = [Data(x=torch.randn(4, 5), edge_index=ring(4), y=torch.tensor(n % 3)) for n in range(20)]
    assert graphcon.fit(Own(), graphs, epochs=1, out=tmp_path).epochs == 1
    assert graphcon.fit(Own(), graphs, epochs=2, out=tmp_path).epochs == 2


@pytest.mark.parametrize(
    "model",
    [
        GraphCONNet(5, 8, 2, 3, coupling="RGCNConv", num_relations=3),
        GraphCONNet(5, 8, 2, 3, coupling="RGCNConv", num_relations=3, shared=False, residual=True),
        StackNet(5, 8, 2, 3, coupling="RGCNConv", num_relations=3),
    ],
    ids=["oscillators", "a layer a step", "a stack"],
)
def test_kinds_of_edges_reach_the_layer_that_names_them(model: torch.nn.Module):
    graph = _small_graph()
    graph.edge_type = torch.arange(200) % 3
    assert graphcon.fit(model, graph, epochs=1).epochs == 1
    answers = model.eval()(graph.x, graph.edge_index, edge_type=graph.edge_type).argmax(-1)
    right = (answers == graph.y)[graph.test_mask].float().mean().item()
    assert graphcon.evaluate(model, graph)["accuracy"] == pytest.approx(right)
    assert len(trajectory_table(model, graph)) == 3


def test_a_model_is_given_all_that_it_names_but_the_targets():
    given = {}

    class Own(GraphCONNet):
        def forward(self, x, edge_index, edge_kind, y=None, train_mask=None):
            given.update(edge_kind=edge_kind, y=y, train_mask=train_mask)
            return super().forward(x, edge_index)

    graph = _small_graph()
    graph.edge_kind = torch.arange(200)
    graphcon.fit(Own(5, 8, 2, 3), graph, epochs=1)
    assert torch.equal(given["edge_kind"], graph.edge_kind)
    assert torch.equal(given["train_mask"], graph.train_mask)
    assert given["y"] is None


def test_a_device_that_is_not_there_is_refused_and_leaves_no_folder(tmp_path: Path):
    if torch.cuda.is_available():
        pytest.skip("it is there")
    model = GraphCONNet(5, 8, 2, 3)
    with pytest.raises(InputError, match=r"^accelerator = 'cuda'"):
        graphcon.fit(model, _small_graph(), accelerator="cuda", out=tmp_path / "fit")
    with pytest.raises(InputError, match=r"^accelerator = 'cuda'"):
        graphcon.evaluate(model, _small_graph(), accelerator="cuda")
    assert not (tmp_path / "fit").exists()


def test_what_cannot_be_fitted_is_refused_by_name():
    with pytest.raises(InputError, match="^optimizer = 'Adam'"):
        graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), optimizer="Adam")
    with pytest.raises(InputError, match="the model has 2 outputs, but the target has 3 classes"):
        graphcon.fit(GraphCONNet(5, 8, 2, 2), _small_graph(), epochs=1)


class _Forward(torch.nn.Module):
    """A model whose forward is given, as a user would write it."""

    def __init__(self, forward):
        super().__init__()
        self.conv, self.forward = GCNConv(5, 3), forward.__get__(self)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: _Forward(lambda self, data: self.conv(data.x, data.edge_index)),
            r"needs data, but .*forward\(x, edge",
        ),
        (
            lambda: _Forward(lambda self, x, edges: self.conv(x, edges)),
            "needs edges, but .* hands over x: .*Name its arg",
        ),
        (lambda: _Forward(lambda self, x, edge_index: (self.conv(x, edge_index), x)), "returns a tuple, .* one tensor"),
        (lambda: _Forward(lambda self, x, edge_index: self.conv(x, edge_index)[:9]), r"shape \[9, 3\].* 60 targets"),
        (lambda: GraphCONNet(5, 8, 2, 3).requires_grad_(False), "is frozen.*nothing to train"),
        (lambda: GraphCON(SimpleConv(), 2), "has no weights: there is nothing to train"),
    ],
)
def test_a_model_that_cannot_be_trained_is_refused_with_the_cure(build, message: str):
    with pytest.raises(InputError, match=message):
        graphcon.fit(build(), _small_graph(), epochs=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "^epochs = 0, but must be at least 1"),
        ({"lr": -1}, r"^lr = -1\.0, but must be above 0"),
        ({"accelerator": "gpu"}, "^accelerator = 'gpu'.* Did you mean 'cuda'"),
        ({"metric": "mae"}, "^metric = 'mae', but the target is for classification"),
    ],
)
def test_a_bad_argument_is_called_by_its_name(options, message: str):
    with pytest.raises(InputError, match=message):
        graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), **options)


def test_a_class_and_a_split_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="model is the class GraphCONNet, but must be .* build it first"):
        graphcon.fit(GraphCONNet, _small_graph())  # pyright: ignore[reportArgumentType]  # that is the mistake
    parts = (torch.arange(20), torch.arange(20, 40), torch.arange(40, 60))
    with pytest.raises(TypeError, match=r"split is a tuple, but must be a graphcon\.data\.Split"):
        graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), split=parts)  # pyright: ignore[reportArgumentType]


def test_a_model_with_other_outputs_is_not_measured():
    with pytest.raises(InputError, match="the model has 4 outputs, but the target has 3 classes"):
        graphcon.evaluate(GraphCONNet(5, 8, 2, 4), _small_graph())


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
