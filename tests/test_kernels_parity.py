"""On the kernels a layer gives what it gives by itself: in the output and in all gradients, on any graph."""

from contextlib import nullcontext
from itertools import product

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import Module
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, ResGatedGraphConv, TransformerConv

from graphcon import GraphCON, kernels
from graphcon.couplings import DotProductConv, GatedGCNConv
from graphcon.kernels import coupling, dispatch
from graphcon.kernels.walk import take_steps
from graphcon.models.stack import StackNet

from graphs import random_graph, star
from kernel_cases import CASES, CHANNELS, build

# In double precision only these use them: compiled by one process, they are compiled once.
pytestmark = pytest.mark.xdist_group("kernels")

every_case = pytest.mark.parametrize("name", CASES)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Tensor]:
    """Anything: one node, no edge, loops, several edges between two nodes, nodes alone, one direction only."""
    nodes = draw(st.integers(1, 9))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=24))
    return nodes, torch.tensor(edges, dtype=torch.long).view(-1, 2).t().contiguous()


def results(network: Module, x: Tensor, edge_index: Tensor, **kwargs: Tensor) -> dict[str, Tensor]:
    network.zero_grad()
    x = x.clone().requires_grad_()
    kwargs = {name: value.clone().requires_grad_(value.is_floating_point()) for name, value in kwargs.items()}
    out = network(x, edge_index, **kwargs)
    weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(1), dtype=out.dtype)
    (out * weight).sum().backward()
    found = {"output": out.detach(), "x": x.grad}
    found |= {name: p.grad for name, p in network.named_parameters()}
    return found | {name: value.grad for name, value in kwargs.items()}


def assert_same(network: Module, x: Tensor, edge_index: Tensor, tolerance: float = 2e-4, **kwargs: Tensor) -> None:
    fused = results(network, x, edge_index, **kwargs)
    with kernels.disabled():
        own = results(network, x, edge_index, **kwargs)
    assert fused.keys() == own.keys()
    for name, expected in own.items():
        found = fused[name]
        if expected is None or found is None:  # without edges some layers leave a parameter out of the graph
            assert all(value is None or not value.any() for value in (expected, found)), name
            continue
        # A gradient that is zero but for cancellation is as large as the rounding of what cancels.
        atol = tolerance * max(1.0, float(expected.abs().sum()))
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=atol, msg=lambda m, n=name: f"{n}: {m}")


@every_case
@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), seed=st.integers(0, 99))
def test_a_layer_on_any_graph(name: str, graph: tuple[int, Tensor], seed: int):
    nodes, edge_index = graph
    if CASES[name].takes:
        edge_index = _one_loop_each(edge_index)
    layer = build(name, seed=seed)
    x = torch.randn(nodes, CHANNELS)
    per_edge = CASES[name].per_edge(edge_index.size(1), x.dtype)
    assert kernels.bind(layer, x, (edge_index,), per_edge) is not None
    if "cheb" in name and bool((edge_index[0] == edge_index[1]).all()):
        return  # PyG divides by the largest entry of a matrix that is empty, or zero
    assert_same(GraphCON(layer, 2, act="tanh"), x, edge_index, **per_edge)


def _one_loop_each(edge_index: Tensor) -> Tensor:
    """Where a node has several loops, PyG does not say which one's weight counts, and gives the gradient to all."""
    seen: set[int] = set()
    pairs = edge_index.t().tolist()
    keep = [i != j or (i not in seen and not seen.add(i)) for i, j in pairs]
    return edge_index[:, torch.tensor(keep, dtype=torch.bool)]


@every_case
def test_double_precision_agrees_to_its_own_round_off(name: str):
    layer = build(name, torch.float64)
    edge_index = random_graph(20, 40)
    x = torch.randn(20, CHANNELS, dtype=torch.float64)
    per_edge = CASES[name].per_edge(edge_index.size(1), x.dtype)
    assert_same(GraphCON(layer, 4, act="tanh", trainable=True).double(), x, edge_index, tolerance=1e-10, **per_edge)


@every_case
@pytest.mark.parametrize("memory", ["store", "checkpoint"])
def test_a_source_is_a_bias_of_every_nodes_own(name: str, memory: str):
    edge_index, x = random_graph(20, 40), torch.randn(20, CHANNELS)
    per_edge = CASES[name].per_edge(edge_index.size(1), x.dtype)
    assert_same(GraphCON(build(name), 4, act="tanh", source=0.3, memory=memory), x, edge_index, **per_edge)


@pytest.mark.parametrize(
    ("width", "heads"),
    [*product([5, 16, 27, 64, 91], [1, 3]), (2, 5), (8, 8), (16, 4), (16, 8), (32, 2)],
)
def test_every_width(width: int, heads: int):
    """Sums are taken over 64 channels at a time, then 16, then the rest; products over 32, then 8; gates over 16.

    Heads of 8 or 16 that fill 64 channels are taken together, and those of a softmax four at a time.
    """
    torch.manual_seed(0)
    channels = width * heads
    layers = [
        GCNConv(channels, channels),
        GATConv(channels, width, heads=heads),
        GATConv(channels, channels, heads=heads, concat=False),
        TransformerConv(channels, width, heads=heads),
        DotProductConv(channels, channels, heads=heads, key_channels=width),
        GatedGCNConv(channels, channels),
    ]
    x, edge_index = torch.randn(20, channels), random_graph(20, 60)
    for layer in layers:
        assert_same(GraphCON(layer, 2, act="tanh"), x, edge_index)
    gated = ResGatedGraphConv(channels, channels, edge_dim=2)
    assert_same(GraphCON(gated, 2, act="tanh"), x, edge_index, edge_attr=torch.rand(edge_index.size(1), 2))


@pytest.mark.parametrize("heads", [1, 4])
def test_scores_that_are_far_apart_or_no_numbers(heads: int):
    """A softmax of huge scores is a choice; one with a NaN is NaN in all of its row, and in no other."""
    torch.manual_seed(0)
    edge_index = random_graph(20, 60)
    huge, broken = 300 * torch.randn(20, 16), torch.randn(20, 16)
    broken[3, 2] = float("nan")
    for layer in (GATConv(16, 16 // heads, heads=heads), DotProductConv(16, 16, heads=heads)):
        for x in (huge, broken):
            expected = layer(x, edge_index)
            found = kernels.call(layer, x, edge_index)
            # Scores of some thousands are rounded to the fourth digit after the point, and so is what they weigh.
            torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3, equal_nan=True)
        assert 0 < expected.isnan().any(1).sum() < len(x)


class Alone(Module):
    """A layer that no oscillator wraps."""

    def __init__(self, layer: Module):
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor, edge_index: Tensor, **kwargs: Tensor) -> Tensor:
        return kernels.call(self.layer, x, edge_index, **kwargs)


@every_case
def test_a_layer_alone(name: str):
    x, edge_index = torch.randn(20, CHANNELS), random_graph(20, 40)
    per_edge = CASES[name].per_edge(edge_index.size(1), x.dtype)
    assert_same(Alone(build(name)), x, edge_index, **per_edge)


def test_a_layer_alone_that_is_not_covered():
    x, edge_index = torch.randn(20, CHANNELS), random_graph(20, 40)
    layer = GCNConv(CHANNELS, 3)
    assert torch.equal(kernels.call(layer, x, edge_index), layer(x, edge_index))


@pytest.mark.parametrize("coupling", ["gcn", "gat", "gatedgcn", "cheb"])
def test_the_plain_network_is_on_the_kernels_too(coupling: str, monkeypatch: pytest.MonkeyPatch):
    x, edge_index, batch = torch.randn(20, 5), random_graph(20, 40), torch.arange(20) // 10
    network = StackNet(5, CHANNELS, 3, 2, coupling=coupling, norm="layer", residual=True, task="graph")
    assert_same(network, x, edge_index, batch=batch)
    bound = []
    monkeypatch.setattr(dispatch, "bind", lambda *args: bound.append(kernels.bind(*args)) or bound[-1])
    network(x, edge_index, batch=batch)
    assert len(bound) == 3
    assert None not in bound


def test_a_state_that_is_not_contiguous_and_a_loss_of_the_velocity_alone():
    x, edge_index = torch.randn(CHANNELS, 20).t(), random_graph(20, 40)
    network = GraphCON(build("gcn"), 3, act="tanh")
    found = []
    for context in (nullcontext(), kernels.disabled()):
        with context:
            y = network(x.requires_grad_(), edge_index, return_velocity=True)[1]
            found.append(torch.autograd.grad(y.square().sum(), x)[0])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("act", ["relu", "tanh", "sigmoid", "leaky_relu", "elu", "gelu", "silu", None])
@pytest.mark.parametrize("name", ["gcn", "gat", "gin"])
def test_every_activation(name: str, act: str | None):
    x, edge_index = torch.randn(20, CHANNELS), random_graph(20, 40)
    assert_same(GraphCON(build(name), 3, act=act), x, edge_index)


@pytest.mark.parametrize("integrator", ["imex", "strang", "adaptive"])
@pytest.mark.parametrize("name", ["gcn", "gat", "cheb"])
def test_every_integrator(name: str, integrator: str):
    x, edge_index = torch.randn(12, CHANNELS, dtype=torch.float64), random_graph(12, 20)
    network = GraphCON(build(name, torch.float64), 3, act="tanh", integrator=integrator)
    assert_same(network, x, edge_index, tolerance=1e-6 if integrator == "adaptive" else 1e-10)


@every_case
def test_every_step_may_have_a_layer_of_its_own(name: str):
    x, edge_index = torch.randn(12, CHANNELS), _one_loop_each(random_graph(12, 20))
    per_edge = CASES[name].per_edge(edge_index.size(1), x.dtype)
    layers = [build(name, seed=seed) for seed in range(3)]
    assert_same(GraphCON(layers, act="tanh", trainable=True, source=0.5), x, edge_index, **per_edge)


@pytest.mark.parametrize("name", ["gcn", "gat", "transformer", "gated gcn", "residual gcn"])
def test_layers_that_are_alike_are_walked_through_by_one_op(name: str, monkeypatch):
    calls = []
    monkeypatch.setattr(coupling, "take_steps", lambda *args, **kw: calls.append(args) or take_steps(*args, **kw))
    x, edge_index = torch.randn(12, CHANNELS), random_graph(12, 20)
    first, *others = (build(name, seed=seed) for seed in range(4))
    assert_same(GraphCON([first, *others, first], act="tanh"), x, edge_index)
    assert len(calls) == 1
    assert_same(GraphCON([first, build("dot product"), first]), x, edge_index)
    assert len(calls) == 4


def test_a_list_may_mix_layers_of_all_kinds():
    x, edge_index = torch.randn(12, CHANNELS), random_graph(12, 20)
    names = ["gcn", "gin", "gat", "sage max", "dot product", "gcn"]
    assert_same(GraphCON([build(name, seed=n) for n, name in enumerate(names)], act="tanh"), x, edge_index)
    shared = build("gcn")
    assert_same(GraphCON([shared, build("gat"), shared], act="tanh"), x, edge_index)


@pytest.mark.parametrize("name", ["gcn", "gat", "transformer", "gated gcn"])
def test_a_batch_gives_what_its_graphs_give_one_by_one(name: str):
    generator = torch.Generator().manual_seed(0)
    parts = [Data(torch.randn(n, CHANNELS, generator=generator), random_graph(n, n, seed=n)) for n in (3, 9, 5)]
    batch, network = Batch.from_data_list(parts), GraphCON(build(name), 3)
    together = network(batch.x, batch.edge_index)
    one_by_one = torch.cat([network(part.x, part.edge_index) for part in parts])
    torch.testing.assert_close(together, one_by_one)


@pytest.mark.parametrize("name", ["gcn", "gat", "dot product"])
def test_a_hub_of_a_hundred_thousand(name: str):
    edge_index = star(100_000)
    assert_same(GraphCON(build(name), 2, act="tanh"), torch.randn(100_001, CHANNELS), edge_index, tolerance=1e-3)


def test_an_edge_index_of_pyg_is_served_too():
    layer, x = build("gcn"), torch.randn(20, CHANNELS)
    edges = random_graph(20, 40)
    edge_index = EdgeIndex(edges, sparse_size=(20, 20)).sort_by("row")[0]
    assert kernels.bind(layer, x, (edge_index,), {}) is not None
    torch.testing.assert_close(GraphCON(layer, 3)(x, edge_index), GraphCON(layer, 3)(x, edges))


def test_what_is_not_covered_takes_its_own_path():
    x, edges = torch.randn(6, CHANNELS), random_graph(6, 6)
    layer = GCNConv(CHANNELS, CHANNELS)

    class Mine(GCNConv):
        pass

    def bound(layer: Module, x: Tensor = x, *args, **kwargs) -> bool:
        return kernels.bind(layer, x, args or (edges,), kwargs) is not None

    assert bound(layer)
    assert not bound(Mine(CHANNELS, CHANNELS))
    assert not bound(GCNConv(CHANNELS, CHANNELS, cached=True))
    assert not bound(GCNConv(CHANNELS, CHANNELS, flow="target_to_source"))
    assert not bound(GCNConv(CHANNELS, CHANNELS, aggr="max"))
    features = torch.rand(edges.size(1), 2)
    assert not bound(TransformerConv(CHANNELS, CHANNELS, edge_dim=2))  # PyG asks for the features
    assert not bound(ResGatedGraphConv(CHANNELS, CHANNELS), x, edges, features)  # and here it does not know them
    assert not bound(layer, x.half())
    assert not bound(layer.bfloat16(), x.bfloat16())
    layer.float()
    assert not bound(layer, x.double())
    assert not bound(layer, x.unsqueeze(0))
    assert not bound(layer, x.to("meta"))
    assert not bound(layer, x, edges, torch.rand(edges.size(1)).double())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert not bound(layer)
    with kernels.disabled():
        assert not kernels.enabled()
        assert not bound(layer)
    handle = layer.lin.register_forward_hook(lambda *_: None)
    assert not bound(layer)
    handle.remove()
    handle = layer.register_message_forward_hook(lambda *_: None)
    assert not bound(layer)
    handle.remove()
    assert kernels.enabled()
    assert bound(layer)


@pytest.mark.parametrize(
    "layer", [GATConv(CHANNELS, CHANNELS, dropout=0.5), DotProductConv(CHANNELS, CHANNELS, dropout=0.5)]
)
def test_attention_dropout_keeps_the_mean_and_follows_the_seed(layer: Module):
    """The mean over many draws is the layer without dropout; the same seed gives the same draw."""
    x, edges = torch.randn(12, CHANNELS), random_graph(12, 20)
    network = GraphCON(layer, 1, dt=1.0, alpha=0.5, gamma=0.5, act=None)
    draws = []
    for seed in range(400):
        torch.manual_seed(seed)
        draws.append(network(x, edges).detach())
    torch.manual_seed(3)
    assert torch.equal(network(x, edges), draws[3])
    assert not torch.equal(draws[3], draws[4])
    mean, spread = torch.stack(draws).mean(0), torch.stack(draws).std(0)
    network.eval()
    assert ((mean - network(x, edges)).abs() < 5 * spread / 400**0.5 + 1e-5).all()
    network.train()
