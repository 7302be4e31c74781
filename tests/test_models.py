import pytest
import torch
import torch.nn.functional as F
from torch.export import Dim, export
from torch.nn import BatchNorm1d, LayerNorm
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import ChebConv, GATConv, GCNConv, GMMConv, Sequential
from torch_geometric.nn.models import GCN

from graphcon.couplings import COUPLINGS
from graphcon.models import GraphCONNet

from graphs import random_graph

NODES, FEATURES = 10, 5


def _data(seed: int = 0, nodes: int = NODES) -> Data:
    generator = torch.Generator().manual_seed(seed)
    return Data(x=torch.randn(nodes, FEATURES, generator=generator), edge_index=random_graph(nodes, 12, seed))


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("residual", [True, False])
def test_every_coupling_makes_a_network_for_nodes_and_for_graphs(coupling: str, shared: bool, residual: bool):
    options = {"coupling": coupling, "shared": shared, "residual": residual}
    data = _data()
    nodes = GraphCONNet(FEATURES, 8, 3, 2, dropout=0.1, **options)
    assert nodes(data.x, data.edge_index).shape == (NODES, 2)
    batch = Batch.from_data_list([_data(1), _data(2, 7)])
    graphs = GraphCONNet(FEATURES, 8, 3, 2, task="graph", **options)
    out = graphs(batch.x, batch.edge_index, batch=batch.batch)
    assert out.shape == (2, 2)
    out.sum().backward()
    assert all(p.grad is not None for p in graphs.parameters())
    graphs.eval()
    alone = torch.cat([graphs(data.x, data.edge_index) for data in batch.to_data_list()])
    torch.testing.assert_close(graphs(batch.x, batch.edge_index, batch=batch.batch), alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("readout", ["sum", "mean", "max"])
def test_the_readout_is_what_it_says(readout: str):
    data = _data()
    net = GraphCONNet(FEATURES, 8, 3, task="graph", readout=readout)
    states = net.embed(data.x, data.edge_index)
    expected = states.amax(0) if readout == "max" else getattr(states, readout)(0)
    torch.testing.assert_close(net(data.x, data.edge_index)[0], expected)


def test_it_stands_where_pygs_gcn_stood():
    data = _data()
    arguments = (FEATURES, 16, 4, 3)
    options = {"dropout": 0.5, "act": "tanh"}
    for model in (GCN(*arguments, **options), GraphCONNet(*arguments, **options)):
        model.reset_parameters()
        assert model(data.x, data.edge_index).shape == (NODES, 3)
        assert model(data.x, data.edge_index, edge_weight=torch.rand(data.num_edges)).shape == (NODES, 3)
        assert (model.in_channels, model.hidden_channels, model.num_layers, model.out_channels) == arguments
    assert GraphCONNet(FEATURES, 16, 4)(data.x, data.edge_index).shape == (NODES, 16)


@pytest.mark.parametrize("norm", [None, "BatchNorm", "batch_norm", "LayerNorm", "layer_norm"])
def test_it_takes_the_arguments_of_pygs_gcn_that_ask_for_nothing(norm: str | None):
    options = {"act": "leaky_relu", "act_kwargs": {"negative_slope": 0.3}, "act_first": False, "norm": norm}
    options |= {"norm_kwargs": None, "jk": "last"}
    data = _data()
    for build in (GCN, GraphCONNet):
        assert build(FEATURES, 16, 4, 3, **options)(data.x, data.edge_index).shape == (NODES, 3)
    assert GraphCONNet(FEATURES, 16, 4, 3, **options).oscillator.act.negative_slope == 0.3


def test_a_module_given_as_norm_is_copied_for_every_step():
    norm = BatchNorm1d(8, momentum=0.3)
    model = GraphCONNet(FEATURES, 8, 3, 2, norm=norm)
    norms = [module for module in model.modules() if isinstance(module, BatchNorm1d)]
    assert len({id(module) for module in (norm, *norms)}) == 4
    assert all(module.momentum == 0.3 for module in norms)


def test_features_and_batches_of_another_kind_are_refused_in_words():
    model, data = GraphCONNet(FEATURES, 8, 2, 3, task="graph"), _data()
    with pytest.raises(ValueError, match=r"x has shape \[5\], but must have shape \[nodes, 5\]"):
        model(data.x[0], data.edge_index)
    with pytest.raises(TypeError, match="batch is torch.bool"):
        model(data.x, data.edge_index, batch=torch.ones(NODES, dtype=torch.bool))


@pytest.mark.parametrize("option", [{"jk": "cat"}, {"norm_kwargs": {"eps": 0.1}}, {"act_first": True}])
def test_it_refuses_those_it_has_no_use_for(option: dict):
    (name,) = option
    with pytest.raises(ValueError, match=f"{name}=.*leave it out"):
        GraphCONNet(FEATURES, 16, 4, 3, **option)


def test_it_works_inside_pygs_sequential():
    data = _data()
    net = Sequential("x, edge_index", [(GraphCONNet(FEATURES, 8, 3), "x, edge_index -> x"), torch.nn.Linear(8, 2)])
    assert net(data.x, data.edge_index).shape == (NODES, 2)


def test_the_training_script_of_pygs_examples_runs_with_it():
    """The loop of PyG's introduction, with the model exchanged and nothing else."""
    torch.manual_seed(0)
    data = _data(nodes=40)
    data.y = (data.x[:, 0] > 0).long()
    data.train_mask = torch.arange(40) < 30
    model = GraphCONNet(in_channels=FEATURES, hidden_channels=16, num_layers=8, out_channels=2, dropout=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    model.train()
    for _ in range(150):
        optimizer.zero_grad()
        out = model(data.x, data.edge_index)
        F.cross_entropy(out[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
    model.eval()
    accuracy = (model(data.x, data.edge_index).argmax(-1) == data.y)[data.train_mask].float().mean()
    assert accuracy > 0.9


def test_a_loader_of_graphs_feeds_it():
    graphs = [_data(seed, nodes=6 + seed) for seed in range(5)]
    net = GraphCONNet(FEATURES, 8, 3, 1, task="graph", readout="sum")
    for batch in DataLoader(graphs, batch_size=2):
        out = net(batch.x, batch.edge_index, batch=batch.batch, batch_size=batch.num_graphs)
        assert out.shape == (batch.num_graphs, 1)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("norm", "kind"), [("batch", BatchNorm1d), ("layer", LayerNorm)])
def test_steps_are_normalised_by_name(norm: str, kind: type, shared: bool):
    data = _data()
    net = GraphCONNet(FEATURES, 8, 3, 2, norm=norm, shared=shared, residual=True)
    assert [type(part) for part in net.oscillator.norms] == [kind] * 3
    net(data.x, data.edge_index).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    plain = GraphCONNet(FEATURES, 8, 3, 2, shared=shared, residual=True)
    assert set(net.state_dict()) - set(plain.state_dict()) == {
        name for name in net.state_dict() if name.startswith("core.norms.")
    }
    with pytest.raises(ValueError, match="norm='bach' is unknown; .* Did you mean 'batch'"):
        GraphCONNet(FEATURES, 8, 3, 2, norm="bach")


def test_a_network_can_have_a_source_and_do_without_values():
    data = _data()
    net = GraphCONNet(FEATURES, 8, 3, 2, coupling="gat", values=False, source=0.1)
    plain = GraphCONNet(FEATURES, 8, 3, 2, coupling="gat")
    assert set(plain.state_dict()) - set(net.state_dict()) == {"core.coupling.lin.weight"}
    assert set(net.state_dict()) - set(plain.state_dict()) == {"core.beta"}
    net(data.x, data.edge_index).sum().backward()
    assert all(p.grad is not None for p in net.parameters())


@pytest.mark.parametrize(
    ("coupling", "options"),
    [
        *((coupling, {}) for coupling in ("gcn", "gat", "transformer", "gatedgcn")),
        ("gcn", {"norm": "batch"}),
        ("gat", {"values": False, "source": 0.1}),
    ],
)
@pytest.mark.parametrize("task", ["node", "graph"])
def test_it_compiles_into_one_graph(coupling: str, options: dict, task: str):
    data = _data()
    net = GraphCONNet(FEATURES, 8, 3, 2, coupling=coupling, task=task, **options)
    batch = torch.zeros(NODES, dtype=torch.long)
    torch.compiler.reset()  # programs of other networks count towards a limit
    compiled = torch.compile(net, backend="aot_eager", fullgraph=True)
    out = compiled(data.x, data.edge_index, batch=batch, batch_size=1)
    torch.testing.assert_close(out, net(data.x, data.edge_index, batch=batch, batch_size=1))


def test_the_input_width_can_be_found_at_the_first_call():
    data = _data()
    net = GraphCONNet(-1, 8, 3, 2)
    assert net(data.x, data.edge_index).shape == (NODES, 2)


def test_a_layer_and_a_list_of_layers_are_couplings():
    data = _data()
    one = GraphCONNet(FEATURES, 8, 5, 2, coupling=GATConv(8, 8))
    assert one.oscillator.shared
    several = GraphCONNet(FEATURES, 8, 2, 2, coupling=[GCNConv(8, 8), GATConv(8, 8)], residual=True)
    assert not several.oscillator.shared
    assert several(data.x, data.edge_index).shape == (NODES, 2)
    with pytest.raises(TypeError, match="heads: options of the coupling, but the coupling is given as a layer"):
        GraphCONNet(FEATURES, 8, 5, 2, coupling=GATConv(8, 8), heads=2)


def test_edge_features_reach_a_coupling_that_takes_them_and_warn_at_one_that_does_not():
    data = _data()
    edge_attr = torch.rand(data.num_edges, 3)
    attentive = GraphCONNet(FEATURES, 8, 2, coupling="gat", edge_dim=3)
    attentive.eval()
    assert not torch.equal(
        attentive(data.x, data.edge_index, edge_attr=edge_attr),
        attentive(data.x, data.edge_index, edge_attr=torch.zeros_like(edge_attr)),
    )
    with pytest.warns(UserWarning, match="edge_attr is given, but GCNConv does not take it: it has no effect"):
        GraphCONNet(FEATURES, 8, 2)(data.x, data.edge_index, edge_attr=edge_attr)


def test_dropout_at_input_and_output_follows_dropout_unless_given():
    net = GraphCONNet(FEATURES, 8, 2, dropout=0.3)
    assert (net.encoder.dropout.p, net.output_dropout.p, net.oscillator.dropout.p) == (0.3, 0.3, 0.3)
    net = GraphCONNet(FEATURES, 8, 2, dropout=0.3, input_dropout=0.0, output_dropout=0.6)
    assert (net.encoder.dropout.p, net.output_dropout.p, net.oscillator.dropout.p) == (0.0, 0.6, 0.3)


def test_it_can_start_as_a_wave_and_does_so_again_after_a_reset():
    model = GraphCONNet(FEATURES, 8, 3, 2, gamma=0.5, start="wave")
    weight = model.oscillator.coupling.lin.weight
    assert torch.equal(weight, 0.5 * torch.eye(8))
    torch.nn.init.ones_(weight)
    model.reset_parameters()
    assert torch.equal(weight, 0.5 * torch.eye(8))


def test_repr_is_exact():
    assert str(GraphCONNet(5, 8, 3, 2)) == (
        "GraphCONNet(5, 2, task=node, GraphCON(GCNConv(8, 8), steps=3, dt=0.5, alpha=0.5, gamma=1, act=ReLU(), "
        "integrator=imex, memory=auto, shared=True))"
    )


@pytest.mark.parametrize(("option", "value"), [("task", "edge"), ("readout", "median"), ("coupling", "gnc")])
def test_an_unknown_choice_is_refused(option: str, value: str):
    with pytest.raises(ValueError, match=f"{option}='{value}' is unknown"):
        GraphCONNet(5, 8, 3, 2, **{option: value})


def test_a_program_is_for_graphs_of_any_size():
    network = GraphCONNet(FEATURES, 64, 32, 2)
    data, more = _data(), _data(nodes=40_000)
    sizes = {"x": {0: Dim("nodes")}, "edge_index": {1: Dim("edges")}}
    program = export(network, (data.x, data.edge_index), dynamic_shapes=sizes)
    with torch.no_grad():
        torch.testing.assert_close(program.module()(more.x, more.edge_index), network(more.x, more.edge_index))


@pytest.mark.parametrize("coupling", ["gcn", ChebConv(8, 8, K=3), GMMConv(8, 8, dim=2, kernel_size=2)])
def test_the_weights_and_features_of_edges_are_of_any_number_too(coupling):
    network = GraphCONNet(FEATURES, 8, 3, 2, coupling=coupling)
    name = "edge_weight" if network.supports_edge_weight else "edge_attr"
    (few, some), (more, others) = (
        (data, {name: torch.rand(data.num_edges, *((2,) if name == "edge_attr" else ()))})
        for data in (_data(), _data(nodes=40))
    )
    sizes = {"x": {0: Dim("nodes")}, "edge_index": {1: Dim("edges")}, name: {0: Dim("edges")}}
    program = export(network, (few.x, few.edge_index), some, dynamic_shapes=sizes)
    expected = network(more.x, more.edge_index, **others)
    torch.testing.assert_close(program.module()(more.x, more.edge_index, **others), expected)


def test_learned_coefficients_know_the_width_of_the_network():
    network = GraphCONNet(FEATURES, 8, 3, 2, coupling="gin", trainable=True)
    assert sum(parameter.numel() for parameter in network.oscillator.parameters()) == 2 * (8 * 8 + 8) + 2 * 8


def test_input_of_another_width_is_refused_by_name():
    with pytest.raises(ValueError, match=r"x has 6 columns \(shape \[10, 6\]\), but in_channels=5"):
        GraphCONNet(FEATURES, 8, 3, 2)(torch.randn(NODES, 6), _data().edge_index)


LONG, CATEGORIES = torch.zeros(NODES, 2, dtype=torch.long), {"in_channels": 0, "num_categories": (3, 4)}


@pytest.mark.parametrize(
    ("options", "given", "error", "message"),
    [
        ({}, {"x": None}, TypeError, r"x is a NoneType, but must be a tensor of shape \[nodes, 5\]"),
        ({}, {"x": {"paper": torch.randn(NODES, FEATURES)}}, TypeError, "x is a dict, but must be a tensor"),
        ({}, {"x": torch.ones(NODES, FEATURES).long()}, TypeError, "x is torch.int64.*use x.float()"),
        ({}, {"x": torch.ones(NODES, FEATURES).double()}, TypeError, "x is torch.float64, but the network is"),
        ({}, {"x_categories": LONG}, ValueError, "x_categories is given, but .*without num_categories"),
        ({"task": "graph"}, {"batch": LONG[:3, 0]}, ValueError, r"batch has shape \[3\].*each of 10 nodes"),
        ({"task": "graph"}, {"batch": torch.zeros(NODES)}, TypeError, "batch is torch.float32"),
        (CATEGORIES, {"x_categories": LONG}, ValueError, "in_channels=0: give categories as x_categories"),
        (CATEGORIES, {"x": None}, TypeError, r"x_categories is a NoneType.*\[nodes, 2\]"),
        (CATEGORIES, {"x": None, "x_categories": LONG.float()}, TypeError, "use x_categories.long()"),
        (CATEGORIES, {"x": None, "x_categories": LONG[:, :1]}, ValueError, r"x_categories has shape \[10, 1\]"),
        (CATEGORIES, {"x": None, "x_categories": LONG + 3}, ValueError, "holds 3 in column 0, but .* are 0 to 2"),
    ],
)
def test_input_that_it_was_not_made_for_is_refused_by_name(options: dict, given: dict, error: type, message: str):
    network = GraphCONNet(**({"in_channels": FEATURES, "hidden_channels": 8, "num_layers": 3} | options))
    with pytest.raises(error, match=message):
        network(**({"x": _data().x, "edge_index": _data().edge_index} | given))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((5, 0, 3, 2), {}, ValueError, "hidden_channels=0, but hidden_channels must be at least 1"),
        ((5, "8", 3, 2), {}, TypeError, "hidden_channels='8' is a str, but must be a whole number"),
        ((5, 8, 3, 0), {}, ValueError, "out_channels=0"),
        ((-2, 8, 3, 2), {}, ValueError, "in_channels=-2, but in_channels must be at least -1"),
        ((0, 8, 3, 2), {}, ValueError, "in_channels=0 without num_categories"),
        ((5, 8, 3, 2), {"coupling": GCNConv}, TypeError, "must be a name, a layer, or a list"),
        ((5, 8, 3, 2), {"coupling": GCNConv(4, 4)}, ValueError, "takes 4 channels, but .*hidden_channels=8"),
        ((5, 8, 3, 2), {"coupling": [GCNConv(8, 8)] * 2}, ValueError, "num_layers=3, but coupling lists 2 layers"),
    ],
)
def test_a_network_that_cannot_be_is_refused_when_it_is_made(arguments, options: dict, error: type, message: str):
    with pytest.raises(error, match=message):
        GraphCONNet(*arguments, **options)


def test_an_option_that_nobody_has_is_refused_with_those_there_are():
    with pytest.raises(
        TypeError, match="momentum: neither an option of the network nor of coupling 'gcn', which has .*improved"
    ):
        GraphCONNet(FEATURES, 8, 3, 2, momentum=0.1)
    with pytest.raises(TypeError, match="Did you mean 'heads'?"):
        GraphCONNet(FEATURES, 8, 3, 2, coupling="GATv2Conv", head=2)


def test_a_wave_needs_a_layer_that_knows_its_width():
    with pytest.raises(ValueError, match="start='wave' needs a layer that knows its width"):
        GraphCONNet(FEATURES, 8, 3, 2, coupling=GCNConv(-1, 8), start="wave")


def test_whole_numbers_in_x_are_categories_where_these_are_all_there_is():
    torch.manual_seed(0)
    net, kinds = GraphCONNet(0, 8, 2, 3, num_categories=(4, 2)).eval(), torch.tensor([[0, 1], [3, 0], [2, 1]])
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    torch.testing.assert_close(net(kinds, edge_index), net(None, edge_index, x_categories=kinds), rtol=0, atol=0)
    with pytest.raises(TypeError, match=r"x is torch.int64, but features are real numbers"):
        GraphCONNet(2, 8, 2, 3)(kinds, edge_index)
