import copy
from typing import get_args, get_overloads, get_type_hints

import pytest
import torch
from torch import Tensor
from torch.nn import BatchNorm1d, Linear, Module, PReLU, Sequential
from torch_geometric.nn import MLP, EdgeConv, GATConv, GCN2Conv, GCNConv, GINConv, RGCNConv
from torch_geometric.nn import Sequential as GraphSequential

from graphcon import GraphCON
from graphcon.couplings import DotProductConv, build

from graphs import random_graph, ring

NODES, CHANNELS = 6, 4


@pytest.fixture
def x() -> Tensor:
    return torch.randn(NODES, CHANNELS, generator=torch.Generator().manual_seed(0))


def gcn() -> GCNConv:
    torch.manual_seed(0)
    return GCNConv(CHANNELS, CHANNELS)


class Half(Module):
    """F(X) = X / 2, to be worked out by hand."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x / 2


def test_two_steps_by_hand():
    layer = GraphCON(Half(), steps=2, dt=0.5, alpha=0.5, gamma=1.0)
    x0, y0 = 4.0, -2.0
    y1 = y0 + 0.5 * (2.0 - x0 - 0.5 * y0)
    x1 = x0 + 0.5 * y1
    y2 = y1 + 0.5 * (max(x1 / 2, 0.0) - x1 - 0.5 * y1)
    x2 = x1 + 0.5 * y2
    x, y = layer(torch.tensor([[x0]]), torch.empty(2, 0).long(), y=torch.tensor([[y0]]), return_velocity=True)
    assert (x.item(), y.item()) == (x2, y2)


def test_the_velocity_starts_as_the_state_unless_given(x):
    layer = GraphCON(gcn(), 3)
    assert torch.equal(layer(x, ring()), layer(x, ring(), y=x))
    assert not torch.equal(layer(x, ring()), layer(x, ring(), y=torch.zeros_like(x)))


def test_the_state_given_in_is_not_changed(x):
    before = x.clone()
    GraphCON(gcn(), 3)(x, ring(), y=x)
    assert torch.equal(x, before)


def test_going_on_from_a_state_is_going_all_the_way(x):
    conv = gcn()
    x3, y3 = GraphCON(conv, 3)(x, ring(), return_velocity=True)
    torch.testing.assert_close(GraphCON(conv, 4)(x3, ring(), y=y3), GraphCON(conv, 7)(x, ring()))


def test_a_list_takes_its_layers_in_order(x):
    layers = [gcn(), GATConv(CHANNELS, CHANNELS), GCNConv(CHANNELS, CHANNELS, bias=False)]
    one_by_one, velocity = x, x
    for layer in layers:
        one_by_one, velocity = GraphCON(layer, 1)(one_by_one, ring(), y=velocity, return_velocity=True)
    torch.testing.assert_close(GraphCON(layers)(x, ring()), one_by_one)


def test_the_trajectory_goes_from_the_input_to_the_output_and_keeps_no_gradients(x):
    layer = GraphCON(gcn(), 5)
    xs, ys = layer.trajectory(x.requires_grad_(), ring(), return_velocity=True)
    out, velocity = layer(x, ring(), return_velocity=True)
    assert xs.shape == ys.shape == (6, NODES, CHANNELS)
    assert torch.equal(xs[0], x)
    assert torch.equal(ys[0], x)
    assert torch.equal(xs[-1], out)
    assert torch.equal(ys[-1], velocity)
    assert not xs.requires_grad
    assert torch.equal(layer.trajectory(x, ring()), xs)


def test_edge_weights_reach_the_coupling_by_place_and_by_name(x):
    layer = GraphCON(gcn(), 3)
    weight = torch.rand(2 * NODES)
    by_name = layer(x, ring(), edge_weight=weight)
    assert torch.equal(layer(x, ring(), weight), by_name)
    assert torch.equal(layer(x, edge_index=ring(), edge_weight=weight), by_name)
    assert not torch.equal(layer(x, ring()), by_name)


def test_edge_types_and_a_starting_feature_reach_the_coupling(x):
    kinds = torch.arange(2 * NODES) % 3
    relational = GraphCON(RGCNConv(CHANNELS, CHANNELS, num_relations=3), 3)
    assert not torch.equal(relational(x, ring(), kinds), relational(x, ring(), edge_type=kinds.flip(0)))
    anchored = GraphCON(GCN2Conv(CHANNELS, alpha=0.5), 3)
    assert not torch.equal(anchored(x, x, ring()), anchored(x, torch.zeros_like(x), ring()))


def test_gradients_reach_edge_weights(x):
    weight = torch.rand(2 * NODES, requires_grad=True)
    GraphCON(gcn(), 3)(x, ring(), weight).sum().backward()
    assert weight.grad is not None
    assert weight.grad.abs().sum() > 0


@pytest.mark.parametrize(
    "act", ["tanh", torch.tanh, torch.nn.Tanh(), torch.nn.Tanh], ids=["name", "function", "module", "class"]
)
def test_the_activation_is_a_name_a_function_or_a_module(x, act):
    conv = gcn()
    expected = x + 0.5 * (x + 0.5 * (torch.tanh(conv(x, ring())) - x - 0.5 * x))
    torch.testing.assert_close(GraphCON(conv, 1, act=act)(x, ring()), expected)


def test_no_activation_is_the_identity(x):
    conv = gcn()
    expected = x + 0.5 * (x + 0.5 * (conv(x, ring()) - x - 0.5 * x))
    torch.testing.assert_close(GraphCON(conv, 1, act=None)(x, ring()), expected)


def test_an_activation_with_parameters_is_learned(x):
    layer = GraphCON(gcn(), 3, act=PReLU())
    layer(x, ring()).sum().backward()
    assert any(name.startswith("act.") and p.grad is not None for name, p in layer.named_parameters())


def test_dropout_drops_the_force_and_not_the_state(x):
    layer = GraphCON(gcn(), 1, dt=0.5, alpha=0.5, gamma=1.0, dropout=0.999, act="sigmoid")
    forceless = x + 0.5 * (x + 0.5 * (-x - 0.5 * x))
    torch.manual_seed(0)
    torch.testing.assert_close(layer(x, ring()), forceless)
    layer.eval()
    assert torch.equal(layer(x, ring()), layer(x, ring()))
    assert not torch.allclose(layer(x, ring()), forceless)


@pytest.mark.parametrize("integrator", ["imex", "strang"])
def test_learned_coefficients_start_as_given_and_never_become_negative(x, integrator: str):
    layer = GraphCON(gcn(), 4, alpha=0.0, gamma=0.01, trainable=True, integrator=integrator)
    assert layer.alpha.tolist() == [0.0] * CHANNELS
    optimizer = torch.optim.SGD(layer.parameters(), lr=1e-3)
    for _ in range(5):
        optimizer.zero_grad()
        layer(x, ring()).square().sum().backward()
        assert (layer.raw_alpha.grad != 0).all()
        optimizer.step()
        assert (layer.alpha >= 0).all()
        assert (layer.gamma >= 0).all()
    assert not torch.equal(layer.alpha, torch.zeros(CHANNELS))


def test_learned_coefficients_find_their_width_at_the_first_call_and_on_loading(x):
    def network() -> GraphCON:
        return GraphCON(GINConv(Sequential(Linear(CHANNELS, CHANNELS))), 2, trainable=True)

    first, second = network(), network()
    out = first(x, ring())
    assert first.alpha.shape == (CHANNELS,)
    second.load_state_dict(first.state_dict())
    assert torch.equal(second(x, ring()), out)


@pytest.mark.parametrize(("saved", "loaded"), [(torch.float64, torch.float32), (torch.float32, torch.float64)])
def test_learned_coefficients_are_loaded_into_the_type_of_the_network(x, saved: torch.dtype, loaded: torch.dtype):
    first, second = (GraphCON(GCNConv(-1, CHANNELS), 3, trainable=True) for _ in range(2))
    out = first(x, ring())
    second.to(loaded).load_state_dict(first.to(saved).state_dict())
    assert second.raw_alpha.dtype is second.raw_gamma.dtype is loaded
    torch.testing.assert_close(second(x.to(loaded), ring()), out.to(loaded), rtol=1e-5, atol=1e-6)


def test_a_network_that_has_not_seen_its_width_can_be_saved_and_loaded(x):
    first, second = (GraphCON(GCNConv(-1, CHANNELS), 3, trainable=True, source=0.5) for _ in range(2))
    saved = first.state_dict()
    assert not saved["beta"].requires_grad
    expected = first(x, ring())
    for _ in range(2):  # one that has not seen its width, and one that has
        second.load_state_dict(saved)
        second(x, ring())
    second.coupling.load_state_dict(first.coupling.state_dict())
    torch.testing.assert_close(second(x, ring()), expected)


def test_a_network_of_pyg_tells_its_width_too():
    layer = GraphCON(GINConv(MLP([CHANNELS, 9, CHANNELS])), 3, trainable=True)
    assert layer.state_dict()["raw_alpha"].shape == (CHANNELS,)


class Times(Module):
    """What a layer says, some times as much."""

    def __init__(self, factor: float, layer: Module | None = None):
        super().__init__()
        self.factor, self.layer = factor, layer

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> Tensor:
        return self.factor * (x if self.layer is None else self.layer(x, edge_index))


@pytest.mark.parametrize("integrator", ["imex", "strang", "adaptive"])
@pytest.mark.parametrize("make", [gcn, Half], ids=["on kernels", "step by step"])
def test_every_step_normalises_what_the_layer_says_by_a_module_of_its_own(x, integrator: str, make):
    layer, factors = make(), (1.0, 0.5, 2.0)
    normalised = GraphCON(layer, 3, integrator=integrator, norm=[Times(factor) for factor in factors])
    by_layers = GraphCON([Times(factor, layer) for factor in factors], integrator=integrator)
    torch.testing.assert_close(normalised(x, ring()), by_layers(x, ring()))
    assert not torch.allclose(normalised(x, ring()), GraphCON(layer, 3, integrator=integrator)(x, ring()))


def test_batch_normalisation_stands_before_the_activation_and_remembers_every_step_for_itself(x):
    torch.manual_seed(0)
    convs = [gcn(), gcn()]
    layer = GraphCON(convs, dt=0.5, alpha=0.5, gamma=1.0, norm=[BatchNorm1d(CHANNELS) for _ in convs])
    by_hand, means = (x, x), []
    for conv in convs:
        f = conv(by_hand[0], ring())
        means.append(0.1 * f.mean(0))
        force = ((f - f.mean(0)) / (f.var(0, correction=0) + 1e-5).sqrt()).relu()
        y = by_hand[1] + 0.5 * (force - by_hand[0] - 0.5 * by_hand[1])
        by_hand = (by_hand[0] + 0.5 * y, y)
    torch.testing.assert_close(layer(x, ring()), by_hand[0])
    for norm, mean in zip(layer.norms, means, strict=True):
        torch.testing.assert_close(norm.running_mean, mean)


class PlusSource(Module):
    """F(X) + S, by a layer that is told S."""

    def __init__(self, layer: Module, source: Tensor):
        super().__init__()
        self.layer, self.source = layer, source

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.layer(x, edge_index) + self.source


@pytest.mark.parametrize("integrator", ["imex", "strang", "adaptive"])
@pytest.mark.parametrize("make", [gcn, Half], ids=["on kernels", "step by step"])
@pytest.mark.parametrize("shared", [True, False])
def test_a_source_adds_a_multiple_of_the_first_state_inside_the_activation(x, integrator: str, make, shared: bool):
    layer = make()
    with_source = GraphCON(layer if shared else [layer] * 3, 3, integrator=integrator, source=0.7)
    by_layers = GraphCON(PlusSource(layer, 0.7 * x), 3, integrator=integrator)
    torch.testing.assert_close(with_source(x, ring()), by_layers(x, ring()))
    assert not torch.allclose(with_source(x, ring()), GraphCON(layer, 3, integrator=integrator)(x, ring()))


@pytest.mark.parametrize("memory", ["store", "checkpoint"])
def test_the_strength_of_the_source_is_learned(x, memory: str):
    layer = GraphCON(gcn(), 9, source=0.2, act="tanh", memory=memory).double()
    x = x.double()
    (slope,) = torch.autograd.grad(layer(x, ring()).square().sum(), layer.beta)
    values = []
    for beta in (0.2 + 1e-6, 0.2 - 1e-6):
        torch.nn.init.constant_(layer.beta, beta)
        values.append(layer(x, ring()).square().sum())
    torch.testing.assert_close(slope, (values[0] - values[1]) / 2e-6, rtol=1e-6, atol=0.0)
    layer.reset_parameters()
    assert layer.beta.item() == pytest.approx(0.2)


def test_a_source_comes_after_the_normalisation(x):
    layer = GraphCON(Half(), 1, norm=[Times(0.0)], source=2.0, dt=1.0, alpha=0.0, gamma=0.0)
    torch.testing.assert_close(layer(x, ring(), y=torch.zeros_like(x)), x + (2.0 * x).relu())


def test_reset_parameters_starts_anew(x):
    layer = GraphCON(gcn(), 2, alpha=0.3, trainable=True)
    weight = layer.coupling.lin.weight.clone()
    torch.nn.init.constant_(layer.raw_alpha, 9.0)
    layer.reset_parameters()
    assert not torch.equal(layer.coupling.lin.weight, weight)
    torch.testing.assert_close(layer.alpha, torch.full((CHANNELS,), 0.3))


def test_the_state_dict_is_that_of_the_layers():
    assert set(GraphCON(gcn(), 2).state_dict()) == {"coupling.bias", "coupling.lin.weight"}
    assert set(GraphCON([gcn(), gcn()]).state_dict()) >= {"coupling.0.bias", "coupling.1.lin.weight"}


def test_repr_is_exact():
    assert str(GraphCON(GCNConv(8, 8), steps=32)) == (
        "GraphCON(GCNConv(8, 8), steps=32, dt=0.5, alpha=0.5, gamma=1, act=ReLU(), integrator=imex, memory=auto, "
        "shared=True)"
    )
    assert str(GraphCON([GATConv(8, 2, heads=4)] * 3, act=torch.tanh, dropout=0.1, trainable=True)) == (
        "GraphCON(GATConv(8, 2, heads=4), steps=3, dt=0.5, alpha=0.5, gamma=1, act=tanh, dropout=0.1, "
        "integrator=imex, memory=auto, shared=False, trainable=True)"
    )
    assert str(GraphCON([GCNConv(8, 8), GATConv(8, 8)], integrator="strang", memory="store")) == (
        "GraphCON([GCNConv(8, 8), GATConv(8, 8, heads=1)], steps=2, dt=0.5, alpha=0.5, gamma=1, act=ReLU(), "
        "integrator=strang, memory=store, shared=False)"
    )
    assert str(GraphCON(GCNConv(8, 8), 2, norm=[BatchNorm1d(8), BatchNorm1d(8)])).endswith("norm=BatchNorm1d)")
    assert str(GraphCON(GCNConv(8, 8), 2, source=0.1)).endswith("shared=True, source=0.1)")


def test_it_works_inside_pygs_sequential_and_around_it(x):
    inner = GraphSequential("x, edge_index", [(gcn(), "x, edge_index -> x"), Linear(CHANNELS, CHANNELS)])
    outer = GraphSequential("x, edge_index", [(GraphCON(inner, 3), "x, edge_index -> x"), Linear(CHANNELS, 2)])
    assert outer(x, ring()).shape == (NODES, 2)


def test_it_can_be_copied_and_pickled(x, tmp_path):
    layer = GraphCON(gcn(), 3, trainable=True)
    assert torch.equal(copy.deepcopy(layer)(x, ring()), layer(x, ring()))
    torch.save(layer, tmp_path / "layer.pt")
    assert torch.equal(torch.load(tmp_path / "layer.pt", weights_only=False)(x, ring()), layer(x, ring()))


@pytest.mark.parametrize("integrator", ["imex", "strang"])
@pytest.mark.parametrize("memory", ["store", "checkpoint"])
def test_it_compiles_into_one_graph(x, integrator: str, memory: str):
    torch.compiler.reset()  # programs of other networks count towards a limit
    layer = GraphCON(gcn(), 4, integrator=integrator, memory=memory, trainable=True)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    edge_index = random_graph(NODES, 8)
    torch.testing.assert_close(compiled(x, edge_index), layer(x, edge_index))
    compiled(x, edge_index).sum().backward()
    assert layer.coupling.lin.weight.grad is not None


def test_what_learns_its_coefficients_compiles_at_once_where_its_network_tells_the_width(x):
    torch.compiler.reset()
    layer = GraphCON(GINConv(Sequential(Linear(CHANNELS, 9), Linear(9, CHANNELS))), 3, trainable=True)
    compiled = torch.compile(layer, backend="eager", fullgraph=True)(x, ring())
    torch.testing.assert_close(compiled, layer(x, ring()))


def test_what_cannot_know_its_width_is_told_to_be_called_before_it_is_compiled(x):
    torch.compiler.reset()
    layer = GraphCON(EdgeConv(Linear(2 * CHANNELS, CHANNELS)), 3, trainable=True)
    with pytest.raises(Exception, match="trainable=True.*call the layer once before torch.compile"):
        torch.compile(layer, backend="eager", fullgraph=True)(x, ring())
    expected = layer(x, ring())
    torch.testing.assert_close(torch.compile(layer, backend="eager", fullgraph=True)(x, ring()), expected)


@pytest.mark.parametrize("integrator", ["imex", "strang"])
@pytest.mark.parametrize(
    "make",
    [
        gcn,
        lambda: GATConv(CHANNELS, CHANNELS, dropout=0.5),
        lambda: DotProductConv(CHANNELS, CHANNELS, values=False),
        lambda: build("gat", CHANNELS, values=False),
        Half,
    ],
)
def test_a_default_device_is_not_that_of_the_input(x, integrator: str, make):
    layer = GraphCON(make(), 3, dropout=0.5, integrator=integrator, trainable=integrator == "imex")
    edge_index = ring()
    with torch.device("meta"):
        out = layer(x.requires_grad_(), edge_index)
    out.sum().backward()
    assert out.device.type == "cpu"


@pytest.mark.parametrize("name", ["gcn", "gat"])
def test_a_network_without_values_that_was_built_without_memory_is_the_one_it_is_loaded_from(x, name: str):
    def network() -> GraphCON:
        return GraphCON(build(name, CHANNELS, values=False), 3)

    original = network()
    for assign in (False, True):
        with torch.device("meta"):
            loaded = network()
        if not assign:
            loaded.to_empty(device="cpu").reset_parameters()
        loaded.load_state_dict(original.state_dict(), assign=assign)
        torch.testing.assert_close(loaded(x, ring()), original(x, ring()))


@pytest.mark.parametrize("edges", [0, 8])
def test_one_node_and_no_edges_are_graphs_too(edges: int):
    x = torch.randn(1, CHANNELS)
    assert GraphCON(gcn(), 3)(x, torch.zeros(2, edges, dtype=torch.long)).shape == (1, CHANNELS)


def test_half_precision_stays_half_and_autocast_keeps_the_state_in_float32(x):
    assert GraphCON(gcn().bfloat16(), 3)(x.bfloat16(), ring()).dtype is torch.bfloat16
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert GraphCON(gcn(), 3)(x, ring()).dtype is torch.float32


@pytest.mark.parametrize("method", [GraphCON.trajectory, GraphCON.states], ids=["trajectory", "states"])
def test_a_type_checker_is_told_whether_velocities_come_too(method):
    told = [get_type_hints(way) for way in get_overloads(method)]
    assert [str(hints["return"]).count("Tensor") for hints in told] == [1, 2]
    assert [get_args(hints["return_velocity"]) for hints in told] == [(False,), (True,)]
