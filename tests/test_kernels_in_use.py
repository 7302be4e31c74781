"""What people do with layers, on the kernels: the result is that of the layer's own path."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import (
    ChebConv,
    GATConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    Linear,
    MessagePassing,
    ResGatedGraphConv,
    SAGEConv,
    TransformerConv,
)

from graphcon import GraphCON, kernels
from graphcon.couplings import IdentityMap
from graphcon.kernels import _runtime
from graphcon.models import StackNet

from graphs import random_graph
from kernel_cases import CASES, CHANNELS, EDGE_DIM, build

NODES = 9


def _gradients(network: GraphCON, loss: Tensor) -> list[Tensor]:
    network.zero_grad()
    loss.backward()
    return [p.grad.clone() for p in network.parameters() if p.grad is not None]


def _hessian(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    return torch.autograd.functional.hessian(lambda x: network(x, edge_index).square().sum(), x)


def _hessian_of_frozen(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    network.requires_grad_(False)
    return _hessian(network, x, edge_index)


def _many_gradients_at_once(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    out = network(x, edge_index)
    return torch.autograd.grad(
        out, list(network.parameters()), torch.eye(4, NODES * CHANNELS).view(4, NODES, CHANNELS), is_grads_batched=True
    )


def _two_inputs(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    return _gradients(network, (network(x, edge_index) * network(2 * x, edge_index)).sum())


def _added_up(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    network.zero_grad()
    for scale in (1.0, 2.0):
        network(scale * x, edge_index).square().sum().backward()
    return [p.grad.clone() for p in network.parameters() if p.grad is not None]


def _frozen(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    first = next(network.parameters()).requires_grad_(False)
    found = _gradients(network, network(x, edge_index).square().sum())
    first.requires_grad_(True)
    return found


def _turned_weights(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    for parameter in network.parameters():
        if parameter.dim() == 2:
            parameter.data = parameter.data.t().contiguous().t()
    return _gradients(network, network(x, edge_index).square().sum())


def _turned_vectors(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    for parameter in network.parameters():
        if parameter.dim() == 3:
            parameter.data = parameter.data.transpose(1, 2).contiguous().transpose(1, 2)
    return _gradients(network, network(x, edge_index).square().sum())


def _own_forward(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    layer = network._layer(0)
    before = layer.forward
    layer.forward = lambda *args: 2 * before(*args)
    found = network(x, edge_index)
    del layer.forward
    return found


def _one_row_for_all(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    return network(x[:1].expand_as(x), edge_index)


def _changed_in_place(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    return _gradients(network, network(x, edge_index).mul_(2).sum())


def _traced(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit goes, and tells of every size it takes for fixed
        program = torch.jit.trace(network, (x, edge_index))
    return program(x, edge_index[:, :-3])  # pyright: ignore[reportCallIssue]  # what trace returns has no type


@pytest.mark.parametrize(
    "use",
    [
        _hessian,
        _hessian_of_frozen,
        _many_gradients_at_once,
        _two_inputs,
        _added_up,
        _frozen,
        _turned_weights,
        _turned_vectors,
        _own_forward,
        _one_row_for_all,
        _changed_in_place,
        _traced,
    ],
)
@pytest.mark.parametrize("name", ["gcn", "gat", "transformer", "gated gcn"])
def test_it_is_as_without_kernels(name: str, use: Callable[[GraphCON, Tensor, Tensor], Any]):
    network = GraphCON(build(name), 3, act="tanh")
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    found = use(network, x, edge_index)
    with kernels.disabled():
        torch.testing.assert_close(found, use(network, x, edge_index), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("frozen", ["raw_alpha", "raw_gamma"])
@pytest.mark.parametrize("layers", [1, 3])
def test_of_alpha_and_gamma_one_alone_can_be_learned(frozen: str, layers: int):
    network = GraphCON(build("gcn") if layers == 1 else [build("gcn") for _ in range(3)], 3, trainable=True)
    getattr(network, frozen).requires_grad_(False)
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    found = _gradients(network, network(x, edge_index).square().sum())
    with kernels.disabled():
        expected = _gradients(network, network(x, edge_index).square().sum())
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("part", ["message", "lin.forward"])
def test_a_method_in_the_place_of_another_is_called(part: str):
    layer = build("gcn")
    owner, name = (layer, part) if "." not in part else (layer.lin, "forward")
    before, calls = getattr(owner, name), []

    def own(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return before(*args, **kwargs)

    setattr(owner, name, own)
    GraphCON(layer, 3)(torch.randn(NODES, CHANNELS), random_graph(NODES, 20))
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("owner", "method"),
    [
        *((GCNConv, name) for name in ("message", "forward", "propagate")),
        (MessagePassing, "update"),
        (Linear, "forward"),
    ],
)
def test_a_method_in_the_place_of_that_of_a_class_is_called(owner: type, method: str, monkeypatch):
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    network, before, calls = GraphCON(build("gcn"), 3), getattr(owner, method), []
    before_it = network(x, edge_index)

    def own(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return before(*args, **kwargs)

    monkeypatch.setattr(owner, method, own)
    torch.testing.assert_close(network(x, edge_index), before_it)
    assert len(calls) == 3


class Halved(torch.nn.Dropout):
    def forward(self, input: Tensor) -> Tensor:
        return input / 2


@pytest.mark.parametrize(
    "dropout",
    [Halved(0.5), torch.nn.Identity(), torch.nn.AlphaDropout(0.5), torch.nn.Dropout(1.0)],
    ids=["subclass", "identity", "alpha", "all"],
)
def test_another_dropout_is_called(dropout: torch.nn.Module):
    network = GraphCON(build("gcn"), 3)
    network.dropout = dropout
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    torch.manual_seed(0)
    found = network(x, edge_index)
    torch.manual_seed(0)
    with kernels.disabled():
        torch.testing.assert_close(found, network(x, edge_index))
    assert repr(network)


@pytest.mark.parametrize(
    "make",
    [GCNConv, GATConv, GATv2Conv, SAGEConv, TransformerConv, ResGatedGraphConv, lambda *size: ChebConv(*size, K=2)],
)
def test_a_layer_that_takes_its_width_from_the_first_input_is_served_from_then_on(make: Callable[..., torch.nn.Module]):
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    layer = make(-1, CHANNELS)
    assert kernels.bind(layer, x, (edge_index,), {}) is None
    expected = layer(x, edge_index)
    bound = kernels.bind(layer, x, (edge_index,), {})
    assert bound is not None
    torch.testing.assert_close(bound(x), expected)
    assert kernels.bind(layer, x[:, :5], (edge_index,), {}) is None


def test_hooks_on_the_dropout_are_called():
    network, calls = GraphCON(build("gcn"), 3), []
    network.dropout.register_forward_hook(lambda *_: calls.append(1))
    network(torch.randn(NODES, CHANNELS), random_graph(NODES, 20))
    assert len(calls) == 3


def test_an_activation_without_a_hash_is_called():
    @dataclass  # equal where its numbers are, so without a hash
    class Scaled:
        by: float

        def __call__(self, x: Tensor) -> Tensor:
            return self.by * x

    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    layer = build("gcn")
    found = GraphCON(layer, 3, act=Scaled(2.0))(x, edge_index)
    torch.testing.assert_close(found, GraphCON(layer, 3, act=lambda x: 2.0 * x)(x, edge_index))


@pytest.mark.parametrize("node", [-1, NODES, 5_000_000])
@pytest.mark.parametrize("name", ["gcn", "gat", "sage", "gin"])
def test_an_edge_to_nowhere_is_refused_by_whatever_runs_on_the_kernels(name: str, node: int):
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    edge_index[1, 5] = node
    with pytest.raises(ValueError, match=f"edge_index names node {node}"):
        kernels.call(build(name), x, edge_index)
    with pytest.raises(ValueError, match=f"edge_index names node {node}"):
        StackNet(CHANNELS, CHANNELS, 2, 3, coupling=name)(x, edge_index)


def test_an_edge_to_nowhere_is_refused_by_a_compiled_network():
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    edge_index[1, 5] = NODES
    with pytest.raises(Exception, match=f"edge_index names node {NODES}"):
        torch.compile(GraphCON(build("gcn"), 3), backend="eager")(x, edge_index)


def test_a_maximum_over_what_is_no_number_is_none_whatever_the_order():
    layer = SAGEConv(1, 1, aggr="max", root_weight=False, bias=False)
    x, edge_index = torch.tensor([[float("nan")], [1.0], [0.0]]), torch.tensor([[0, 1], [2, 2]])
    for order in (edge_index, edge_index.flip(1)):
        assert kernels.call(layer, x, order)[2].isnan()


@pytest.mark.parametrize("twice", [False, True], ids=["once", "to be differentiated again"])
def test_the_gradient_of_a_maximum_over_what_is_no_number_is_none(twice: bool):
    layer = SAGEConv(1, 1, aggr="max")
    edge_index, found = torch.tensor([[0, 1, 1, 2], [2, 2, 3, 3]]), []
    for call in (kernels.call, lambda layer, *args: layer(*args)):
        x = torch.tensor([[float("nan")], [1.0], [2.0], [3.0]], requires_grad=True)
        found += torch.autograd.grad(call(layer, x, edge_index).sum(), x, create_graph=twice)
    torch.testing.assert_close(*found, equal_nan=True)


def test_a_layer_that_drops_all_its_edges_takes_its_own_path():
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    layer = GATConv(CHANNELS, CHANNELS, dropout=1.0)
    torch.testing.assert_close(kernels.call(layer, x, edge_index), layer(x, edge_index))


@pytest.mark.parametrize("name", ["gin", "cheb", "sage max", "transformer beta"])
def test_kernels_that_do_a_part_of_a_layer_are_for_graphs_that_are_worth_it(name: str, monkeypatch):
    monkeypatch.setattr(_runtime, "LEAST_WORK", 50 * CHANNELS)
    layer, x = build(name), torch.randn(NODES, CHANNELS)
    assert kernels.bind(layer, x, (random_graph(NODES, 9),), {}) is None
    assert kernels.bind(layer, x, (random_graph(NODES, 500),), {}) is not None


C = CHANNELS


@pytest.mark.parametrize(
    ("name", "part", "other"),
    [
        ("gcn", "lin", torch.nn.Linear(C, C)),
        ("gcn", "lin", IdentityMap(C)),
        ("gat", "lin", torch.nn.Linear(C, C)),
        ("gat mean", "res", torch.nn.Linear(C, C)),
        ("gat mean", "res", IdentityMap(C)),
        ("gat attributed", "lin_edge", torch.nn.Linear(EDGE_DIM, C)),
        ("gatv2", "lin_l", torch.nn.Linear(C, C, bias=False)),
        ("gatv2", "lin_r", torch.nn.Linear(C, C, bias=False)),
        ("gatv2", "lin_l", IdentityMap(C)),
        ("gatv2 attributed", "lin_edge", torch.nn.Linear(EDGE_DIM, C)),
        ("gatv2 mean", "res", torch.nn.Linear(C, C)),
        ("transformer", "lin_key", torch.nn.Linear(C, C, bias=False)),
        ("transformer", "lin_skip", torch.nn.Linear(C, C, bias=False)),
        ("dot product", "lin_query", torch.nn.Linear(C, C, bias=False)),
        ("dot product", "lin_key", torch.nn.Linear(C, C)),
        ("dot product", "lin_value", torch.nn.Linear(C, C)),
        ("sage", "lin_l", IdentityMap(C)),
        ("sage", "lin_r", torch.nn.Linear(C, C)),
        ("cheb", "lins.1", torch.nn.Linear(C, C)),
        ("cheb", "lins.1", IdentityMap(C)),
        ("gmm", "root", torch.nn.Linear(C, C)),
        ("res gated", "lin_key", torch.nn.Linear(C, C, bias=False)),
        ("res gated", "lin_skip", torch.nn.Linear(C, C)),
        ("gated gcn", "lin_self", torch.nn.Linear(C, C, bias=False)),
        ("gated gcn bare", "lin_gate_j", torch.nn.Linear(C, C)),
        ("residual gcn", "lin", torch.nn.Linear(C, C)),
        ("residual gcn", "lin", IdentityMap(C)),
    ],
    ids=str,
)
def test_another_map_in_the_place_of_a_layers_own_counts_with_its_bias_or_without(
    name: str, part: str, other: torch.nn.Module
):
    layer, x, edge_index = build(name), torch.randn(NODES, C), random_graph(NODES, 20)
    owner, _, last = part.rpartition(".")
    setattr(layer.get_submodule(owner), last, other)
    per_edge = CASES[name].per_edge(edge_index.size(1), x.dtype)
    network = GraphCON(layer, 3, act="tanh")
    found = _gradients(network, network(x, edge_index, **per_edge).square().sum())
    with kernels.disabled():
        expected = _gradients(network, network(x, edge_index, **per_edge).square().sum())
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


def _doubles_learned() -> GraphCON:
    network = GraphCON(build("gcn"), 3, trainable=True)
    network.raw_gamma = torch.nn.Parameter(network.raw_gamma.detach().double())
    return network


def _doubles_in_the_place_of_a_parameter() -> GraphCON:
    layer = build("gcn")
    del layer.bias
    layer.bias = torch.zeros(C, dtype=torch.float64)
    return GraphCON(layer, 3)


def _doubles_from_an_activation() -> GraphCON:
    return GraphCON(build("gcn"), 3, act=lambda x: x.double().tanh())


class Doubled(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.double()


def _doubles_from_a_normalisation() -> GraphCON:
    return GraphCON(build("gcn"), 3, norm=[Doubled() for _ in range(3)])


@pytest.mark.parametrize(
    "make",
    [
        _doubles_learned,
        _doubles_in_the_place_of_a_parameter,
        _doubles_from_an_activation,
        _doubles_from_a_normalisation,
    ],
)
def test_numbers_of_two_types_are_never_read_as_one(make: Callable[[], GraphCON]):
    x, edge_index = torch.randn(NODES, C), random_graph(NODES, 20)
    with pytest.raises((RuntimeError, TypeError), match=r"same dtype|all must be of one type"):
        make()(x, edge_index)


@pytest.mark.parametrize("width", [1, 32, 128])
def test_a_network_of_another_width_inside_a_layer_is_refused_on_a_large_graph_too(width: int):
    network = GraphCON(GINConv(torch.nn.Linear(64, width)), 3)
    x, edge_index = torch.randn(500, 64), random_graph(500, 5000)
    assert kernels.bind(network.coupling, x, (edge_index,), {}) is not None
    with torch.no_grad(), pytest.raises(ValueError, match=rf"turns 64 channels into {width}"):
        network(x, edge_index)


@pytest.mark.parametrize("served", [True, False], ids=["kernels", "plain"])
@pytest.mark.parametrize("what", ["norm", "act"])
def test_what_a_normalisation_or_an_activation_makes_too_narrow_is_refused(what: str, served: bool):
    options = {"norm": [torch.nn.Linear(C, 1)], "act": lambda f: f.sum(-1, keepdim=True)}
    network = GraphCON(build("gcn"), 1, **{what: options[what]})
    message = rf"{what} .* returned shape \[9, 1\] for x of shape \[9, 8\]"
    with nullcontext() if served else kernels.disabled(), pytest.raises(ValueError, match=message):
        network(torch.randn(NODES, C), random_graph(NODES, 20))


def _ones(*size: int) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.ones(size))


@pytest.mark.parametrize(
    ("name", "part", "other"),
    [
        ("gcn", "bias", _ones(1)),
        ("gat", "att_src", _ones(1, 1, 1)),
        ("gat", "bias", _ones(1)),
        ("gatv2", "att", _ones(1, 1, 1)),
        ("res gated", "bias", _ones(1)),
        ("sage", "lin_r", torch.nn.Linear(C, 1, bias=False)),
        ("transformer", "lin_skip", torch.nn.Linear(C, 1)),
        ("residual gcn", "lin", torch.nn.Linear(C, 1, bias=False)),
    ],
    ids=str,
)
def test_parameters_that_are_spread_over_channels_are_so_on_the_kernels_too(name: str, part: str, other: Any):
    layer, x, edge_index = build(name), torch.randn(NODES, C), random_graph(NODES, 20)
    setattr(layer, part, other)
    network = GraphCON(layer, 3, act="tanh")
    found = _gradients(network, network(x, edge_index).square().sum())
    with kernels.disabled():
        expected = _gradients(network, network(x, edge_index).square().sum())
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "part", "other"),
    [
        ("gcn", "lin", torch.nn.Linear(C, 4, bias=False)),
        ("gcn", "lin", torch.nn.Linear(4, C, bias=False)),
        ("gatv2 attributed", "lin_edge", torch.nn.Linear(EDGE_DIM, 4, bias=False)),
        ("transformer beta", "lin_key", torch.nn.Linear(C, 4)),
        ("residual gcn", "lin", torch.nn.Linear(1, C, bias=False)),
    ],
    ids=str,
)
def test_parameters_that_do_not_fit_are_refused_as_the_layer_refuses_them(name: str, part: str, other: Any):
    layer, x, edge_index = build(name), torch.randn(1000, C), random_graph(1000, 8000)
    setattr(layer, part, other)
    with pytest.raises((RuntimeError, IndexError)):
        GraphCON(layer, 3)(x, edge_index, **CASES[name].per_edge(edge_index.size(1), x.dtype))


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("size", [(), (1,)], ids=str)
@pytest.mark.parametrize("name", ["gcn", "gin"])
def test_one_learned_coefficient_for_all_channels_is_one_for_each(name: str, size: tuple[int, ...], layers: int):
    network = GraphCON(build(name) if layers == 1 else [build(name) for _ in range(3)], 3, trainable=True)
    network.raw_alpha, network.raw_gamma = (torch.nn.Parameter(torch.full(size, value)) for value in (0.5, 1.0))
    x, edge_index = torch.randn(1000, C), random_graph(1000, 50_000)  # so large that GIN is served
    found = _gradients(network, network(x, edge_index).square().mean())
    with kernels.disabled():
        expected = _gradients(network, network(x, edge_index).square().mean())
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "y", [torch.zeros(1, C), torch.zeros(NODES, 1), torch.zeros(5, C), torch.zeros(NODES, C).double()], ids=str
)
def test_a_velocity_that_is_not_like_the_state_is_refused_in_a_compiled_program_too(y: Tensor):
    torch.compiler.reset()
    compiled = torch.compile(GraphCON(build("gcn"), 3), backend="eager")
    with pytest.raises((ValueError, TypeError), match=r"a velocity (has the shape|is of the type) of x"):
        compiled(torch.randn(NODES, C), random_graph(NODES, 20), y=y)


@pytest.mark.parametrize("name", ["gmm", "gmm sum"])
def test_coordinates_that_are_too_few_are_not_made_up(name: str):
    x, edge_index = torch.randn(NODES, C), random_graph(NODES, 20)
    with pytest.raises(RuntimeError):
        GraphCON(build(name), 2)(x, edge_index, edge_attr=torch.rand(edge_index.size(1), EDGE_DIM - 1))
