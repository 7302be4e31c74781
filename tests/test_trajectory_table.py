"""The states and gradients of any model, found through hooks."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, SAGEConv, global_mean_pool, models

from graphcon import GraphCON, kernels
from graphcon.data import load
from graphcon.diagnostics import dirichlet_energy, gradient_norms, state_table, trajectory_table
from graphcon.models import GraphCONNet, StackNet
from graphcon.models.rivals import resgcn, rev

from graphs import random_graph, ring

NODES, IN, HIDDEN, CLASSES = 12, 5, 6, 3


@pytest.fixture
def data():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(NODES, IN, generator=generator)
    return Data(x=x, edge_index=random_graph(NODES, 15), y=torch.randint(CLASSES, (NODES,), generator=generator))


def loss_on(data):
    return lambda out: F.cross_entropy(out, data.y)


class Own(torch.nn.Module):
    """As a user would write it: one layer used three times, skips, a tuple that comes out."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = torch.nn.Linear(IN, HIDDEN), torch.nn.Linear(HIDDEN, CLASSES)
        self.shared, self.last = SAGEConv(HIDDEN, HIDDEN), GATConv(HIDDEN, HIDDEN)

    def forward(self, x, edge_index):
        x = self.encode(x).relu()
        for _ in range(3):
            x = x + self.shared(x, edge_index).tanh()
        x, _ = self.last(x=x, edge_index=edge_index, return_attention_weights=True)
        return self.decode(x)


MODELS = {
    "PyG's GCN": lambda: models.GCN(IN, HIDDEN, 4, CLASSES, dropout=0.5, norm="batch"),
    "PyG's GAT": lambda: models.GAT(IN, HIDDEN, 4, CLASSES, heads=2),
    "one's own": Own,
    "a stack": lambda: StackNet(IN, HIDDEN, 4, CLASSES, dropout=0.5, coupling="gat"),
    "oscillators": lambda: GraphCONNet(IN, HIDDEN, 4, CLASSES, dropout=0.5),
    "oscillators with a layer a step": lambda: GraphCONNet(IN, HIDDEN, 4, CLASSES, shared=False, trainable=True),
    "oscillators of second order": lambda: GraphCONNet(IN, HIDDEN, 4, CLASSES, integrator="strang", residual=True),
}


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS)
def test_any_model_has_a_row_for_every_state_and_is_left_as_it_was(build, data):
    torch.manual_seed(0)
    model = build()
    model.train()
    before = copy.deepcopy(model.state_dict())
    table = trajectory_table(model, data, loss_on(data))
    assert table["step"].to_list() == [0, 1, 2, 3, 4]
    assert all(table[name].is_finite().all() for name in table.columns if name != "weight_gradient")
    assert table["weight_gradient"].is_null().to_list() == [True, False, False, False, False]
    assert (table["state_gradient"] > 0).all()
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(module.training for module in model.modules())
    assert all(p.grad is None and isinstance(p, torch.nn.Parameter) for p in model.parameters())
    model.eval()
    assert model(data.x, data.edge_index).shape == (NODES, CLASSES)
    assert "forward" not in vars(getattr(model, "core", model))
    assert not any(module._forward_pre_hooks or module._forward_hooks for module in model.modules())


def test_states_are_what_the_layers_are_given_and_what_the_last_returns(data):
    model = models.GCN(IN, HIDDEN, 3, CLASSES).eval()
    first, second, third = model.convs
    x1 = first(data.x, data.edge_index).relu()
    x2 = second(x1, data.edge_index).relu()
    states = [data.x, x1, x2, third(x2, data.edge_index)]
    expected = state_table([state.detach() for state in states], data.edge_index)
    assert trajectory_table(model, data).equals(expected)


@pytest.mark.parametrize("integrator", ["imex", "strang"])
@pytest.mark.parametrize("fused", [True, False])
def test_the_states_of_oscillators_are_their_trajectory(data, integrator, fused):
    model = GraphCONNet(IN, HIDDEN, 8, CLASSES, integrator=integrator).eval()
    with torch.no_grad():
        xs = model.oscillator.trajectory(model.start(data.x), data.edge_index)
    if fused:
        table = trajectory_table(model, data)
    else:
        with kernels.disabled():
            table = trajectory_table(model, data)
    assert table["energy"].to_list() == pytest.approx(dirichlet_energy(xs, data.edge_index).tolist(), rel=1e-5)


def test_a_bare_layer_of_oscillators_is_a_model_too(data):
    layer = GraphCON(GCNConv(IN, IN), 5)
    assert len(trajectory_table(layer, data)) == 6
    assert len(gradient_norms(layer, data, lambda out: out.square().sum())) > 0


def test_oscillators_around_oscillators_are_given_the_graph(data):
    layer = GraphCON(GraphCON(GCNConv(IN, IN), 2), 3)
    table = trajectory_table(layer, data, lambda out: out.square().sum())
    assert len(table) == 4
    assert (table["state_gradient"] > 0).all()


@pytest.mark.parametrize("build", [lambda: models.GCN(IN, HIDDEN, 3, CLASSES), MODELS["oscillators"]])
def test_a_compiled_model_is_looked_at_as_the_model_it_was(build, data):
    model = build()
    torch.compiler.reset()  # programs of other networks count towards a limit
    compiled = torch.compile(model, backend="eager")
    assert trajectory_table(compiled, data, loss_on(data)).equals(trajectory_table(model, data, loss_on(data)))


def test_a_model_that_calls_its_oscillators_twice_is_refused_by_name(data):
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.core = GraphCON(GCNConv(IN, IN), 3)

        def forward(self, x, edge_index):
            return self.core(self.core(x, edge_index), edge_index)

    for look in (trajectory_table, lambda *given: gradient_norms(*given, lambda out: out.sum())):
        with pytest.raises(ValueError, match="calls its GraphCON more than once.*one call by itself"):
            look(Twice(), data)


def test_a_core_that_only_has_a_trajectory_is_asked_for_it(data):
    class Rival(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = GCNConv(IN, IN)

        def trajectory(self, x, edge_index):
            xs = [x]
            for _ in range(3):
                xs.append(xs[-1] + self.conv(xs[-1], edge_index))
            return torch.stack(xs)

        def forward(self, x, edge_index):
            return self.trajectory(x, edge_index)[-1]

    model = Rival()
    table = trajectory_table(model, data, lambda out: out.square().sum())
    with torch.no_grad():
        expected = state_table(model.trajectory(data.x, data.edge_index), data.edge_index)
    assert table.select(expected.columns).equals(expected)
    assert len(table) == 4


def test_a_core_that_returns_another_thing_than_its_last_state_has_no_gradients_told_of_it(data):
    class Rival(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = GCNConv(IN, IN)

        def states(self, x, edge_index):
            yield x
            yield self.conv(x, edge_index)

        def forward(self, x, edge_index):
            return 2 * list(self.states(x, edge_index))[-1]

    assert len(trajectory_table(Rival(), data)) == 2
    with pytest.raises(ValueError, match="Rival returns another thing than the last of its `states`.*another module"):
        gradient_norms(Rival(), data, lambda out: out.square().sum())


def test_a_core_whose_layer_runs_twice_a_step_has_no_gradients_and_says_so(data):
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = GCNConv(IN, IN)

        def trajectory(self, x, edge_index):
            return torch.stack([x, self.conv(self.conv(x, edge_index), edge_index)])

        def forward(self, x, edge_index):
            return self.trajectory(x, edge_index)[-1]

    with pytest.warns(UserWarning, match="tells 2 states, but its layers are called 2 times"):
        table = trajectory_table(Twice(), data, lambda out: out.square().sum())
    assert table["state_gradient"].is_null().all()
    assert table["energy"].is_finite().all()


def test_gradient_norms_are_those_of_autograd_by_hand(data):
    """A shared layer: each step's part of its gradient, by giving every step a copy of the weights."""
    model = GraphCONNet(IN, HIDDEN, 3, CLASSES, coupling="gcn", dt=0.7, alpha=0.3).double()
    data = data.clone()
    data.x = data.x.double()
    norms = gradient_norms(model, data, loss_on(data))
    copies = [copy.deepcopy(model.oscillator.coupling) for _ in range(3)]
    x = y = model.start(data.x)
    states = [x]
    for layer in copies:
        y = y + 0.7 * (layer(x, data.edge_index).relu() - x - 0.3 * y)
        x = x + 0.7 * y
        states.append(x)
    loss = loss_on(data)(model.decoder(x))
    parameters = [list(layer.parameters()) for layer in copies]
    for n, state in enumerate(states):
        (gradient,) = torch.autograd.grad(loss, state, retain_graph=True)
        assert norms.states[n] == pytest.approx(float(gradient.norm()), rel=1e-10)
    for n, step in enumerate(parameters):
        gradients = torch.autograd.grad(loss, step, retain_graph=True)
        assert norms.weights[n] == pytest.approx(float(torch.cat([g.flatten() for g in gradients]).norm()), rel=1e-10)


def test_gradient_norms_of_a_plain_model_are_those_of_backward(data):
    model = models.GCN(IN, HIDDEN, 3, CLASSES)
    norms = gradient_norms(model, data, loss_on(data))
    x = data.x.clone().requires_grad_()
    loss_on(data)(model(x, data.edge_index)).backward()
    assert norms.states[0] == pytest.approx(float(x.grad.norm()), rel=1e-5)
    for n, conv in enumerate(model.convs):
        expected = torch.cat([p.grad.flatten() for p in conv.parameters()]).norm()
        assert norms.weights[n] == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize("build", [resgcn.ResGCN, rev.Rev])
def test_parts_that_share_a_module_keep_its_parameters(build, data):
    core = build(HIDDEN, 3, act="prelu")  # one activation, a part of the core and of all its layers
    before = dict(core.named_parameters())
    data = Data(x=torch.randn(NODES, HIDDEN), edge_index=data.edge_index)
    assert (gradient_norms(core, data, lambda out: out.square().sum()).weights > 0).all()
    assert all(parameter is before[name] and parameter.is_leaf for name, parameter in core.named_parameters())


def test_a_batch_of_graphs_is_measured_graph_by_graph():
    generator = torch.Generator().manual_seed(0)
    graphs = [Data(x=torch.randn(n, IN, generator=generator), edge_index=ring(n)) for n in (3, 6, 4)]
    model = GraphCONNet(IN, HIDDEN, 5, 1, task="graph")
    together = trajectory_table(model, Batch.from_data_list(graphs), lambda out: out.sum())
    each = [trajectory_table(model, graph) for graph in graphs]
    for name in ("energy", "mad", "effective_rank"):
        mean = sum(table[name] for table in each) / 3
        assert together[name].to_list() == pytest.approx(mean.to_list(), rel=1e-4)
    assert len(together) == 6


def test_depth_costs_no_memory(data):
    """While the states go by, the largest number of them alive at once does not grow with the depth."""
    import weakref

    def most_alive(steps):
        model, seen, most = GraphCON(GCNConv(IN, IN), steps), [], 0
        with torch.no_grad():
            for state in model.states(data.x, data.edge_index):
                seen.append(weakref.ref(state))
                most = max(most, sum(ref() is not None for ref in seen))
        return most

    assert most_alive(40) == most_alive(10) <= 4


def test_deep_gcn_smooths_and_deep_graphcon_does_not_on_cora():
    data = load("cora").data
    torch.manual_seed(0)
    plain = trajectory_table(models.GCN(data.num_features, 16, 32, 7), data)
    torch.manual_seed(0)
    deep = trajectory_table(GraphCONNet(data.num_features, 16, 32, 7), data)
    assert plain["energy"][-1] < 1e-6 * plain["energy"][1]
    assert deep["energy"][-1] > 1e-2 * deep["energy"][1]


def test_a_model_without_layers_is_refused_with_the_cure(data):
    with pytest.raises(ValueError, match="no message-passing layer.*state_table"):
        trajectory_table(models.MLP([IN, 4, CLASSES]), data)


def test_a_model_that_pools_between_its_layers_is_refused_with_the_cure():
    class Pools(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = GCNConv(IN, IN), GCNConv(IN, IN)

        def forward(self, x, edge_index, batch=None):
            pooled = global_mean_pool(self.first(x, edge_index), batch)
            return self.second(pooled, torch.zeros(2, 1, dtype=torch.long))

    with pytest.raises(ValueError, match=r"shape \[1, 5\], but the data have 4 nodes"):
        trajectory_table(Pools(), Data(x=torch.randn(4, IN), edge_index=ring(4)))


@pytest.mark.parametrize("model", [models.GCN(1, 8, 2), GraphCONNet(1, 8, 2)])
def test_data_without_features_are_refused(model):
    with pytest.raises(ValueError, match="has no x: give the nodes features"):
        trajectory_table(model, Data(edge_index=ring(), num_nodes=6))
