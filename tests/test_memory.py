import itertools
from contextlib import nullcontext

import pytest
import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import BatchNorm1d, LazyBatchNorm1d, Linear, Module, ReLU, Sequential
from torch.nn.utils.parametrizations import spectral_norm
from torch_geometric.nn import (
    CGConv,
    ChebConv,
    FiLMConv,
    GATConv,
    GCNConv,
    GeneralConv,
    GINConv,
    GINEConv,
    GraphConv,
    SAGEConv,
    SuperGATConv,
)
from torch_geometric.utils import to_torch_csr_tensor

from graphcon import GraphCON, kernels, memory
from graphcon._validation import arguments_after_x
from graphcon._validation import messages as messages_of
from graphcon.integrators import INTEGRATORS
from graphcon.memory import ONE_LEVEL, segment_lengths

from graphs import random_graph
from kernel_cases import CASES

NODES, CHANNELS = 12, 4
EDGES = random_graph(NODES, 20)


@pytest.fixture(autouse=True, params=[True, False], ids=["kernels", "plain"])
def kernels_on_and_off(request):
    """Whatever the path, what is recomputed is what was computed."""
    with nullcontext() if request.param else kernels.disabled():
        yield


def _x() -> Tensor:
    return torch.randn(NODES, CHANNELS, generator=torch.Generator().manual_seed(0))


def _all_gradients(network: GraphCON, mode: str, autocast: bool = False, **kwargs: Tensor) -> dict[str, Tensor]:
    network.memory = mode
    network.zero_grad()
    x = _x().requires_grad_()
    torch.manual_seed(1)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        out = network(x, EDGES, **kwargs)
        loss = out.float().square().sum()
    loss.backward()
    found = {"output": out.detach(), "x": x.grad}
    found |= {name: p.grad for name, p in network.named_parameters()}
    found |= {name: value.grad for name, value in kwargs.items() if value.requires_grad}
    assert all(value is not None and value.isfinite().all() for value in found.values())
    return {name: value.clone() for name, value in found.items()}


def _assert_same_bits(network: GraphCON, **kwargs) -> None:
    stored, recomputed = (_all_gradients(network, mode, **kwargs) for mode in ("store", "checkpoint"))
    assert stored.keys() == recomputed.keys()
    different = [name for name, value in stored.items() if not torch.equal(value, recomputed[name])]
    assert not different


def _depths(integrator: str) -> tuple[int, ...]:
    return (1, 4) if integrator == "adaptive" else (1, 7, ONE_LEVEL + 6)  # its solver takes many evaluations a step


@pytest.mark.parametrize(("integrator", "steps"), [(name, n) for name in INTEGRATORS for n in _depths(name)])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per-step"])
@pytest.mark.parametrize("trainable", [True, False], ids=["trainable", "fixed"])
def test_recomputed_gradients_equal_stored_ones_to_the_last_bit(
    integrator: str, shared: bool, trainable: bool, steps: int
):
    torch.manual_seed(0)
    layers = [GATConv(CHANNELS, 2, heads=2, dropout=0.0) for _ in range(1 if shared else steps)]
    dropout = 0.0 if integrator == "adaptive" else 0.3
    _assert_same_bits(
        GraphCON(layers[0] if shared else layers, steps, integrator=integrator, dropout=dropout, trainable=trainable)
    )


@pytest.mark.parametrize("name", ["gcn", "gatv2", "dot product", "gated gcn", "gmm", "gin", "sage max", "residual gcn"])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per-step"])
def test_every_kind_of_coupling_is_recomputed_to_the_last_bit(name: str, shared: bool):
    layers = [CASES[name].build() for _ in range(1 if shared else 9)]
    network = GraphCON(layers[0] if shared else layers, 9, dropout=0.3, source=0.5)
    per_edge = CASES[name].per_edge(EDGES.size(1), torch.float32)
    found = []
    for mode in ("store", "checkpoint"):
        network.memory = mode
        network.zero_grad()
        x = torch.randn(NODES, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
        torch.manual_seed(1)
        out = network(x, EDGES, **per_edge)
        out.square().sum().backward()
        found.append([out.detach(), x.grad, *(p.grad for p in network.parameters())])
        for parameter in network.parameters():
            parameter.grad = None
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_dropout_inside_the_layer_is_recomputed_too():
    torch.manual_seed(0)
    _assert_same_bits(GraphCON(GATConv(CHANNELS, 2, heads=2, dropout=0.5), 9, dropout=0.5))


@pytest.mark.parametrize("integrator", ["imex", "strang"])
def test_autocast_is_recomputed_too(integrator: str):
    torch.manual_seed(0)
    _assert_same_bits(GraphCON(GCNConv(CHANNELS, CHANNELS), 9, dropout=0.3, integrator=integrator), autocast=True)


def test_gradients_of_keyword_arguments_agree_too():
    torch.manual_seed(0)
    weight = torch.rand(EDGES.size(1), requires_grad=True)
    network = GraphCON(GCNConv(CHANNELS, CHANNELS), 9)
    results = []
    for mode in ("store", "checkpoint"):
        weight.grad = None
        results.append(_all_gradients(network, mode, edge_weight=weight))
    assert all(torch.equal(value, results[1][name]) for name, value in results[0].items())
    assert "edge_weight" in results[0]


class Perturbed(Module):
    """Reads a buffer that it changes at every call."""

    def __init__(self):
        super().__init__()
        self.lin = Linear(CHANNELS, CHANNELS)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        self.calls += 1
        return self.lin(x) * (1 + 1 / self.calls.clone())


class Averaged(Module):
    """Puts a new buffer in the place of the old one at every call."""

    def __init__(self):
        super().__init__()
        self.lin = Linear(CHANNELS, CHANNELS)
        self.register_buffer("mean", torch.zeros(CHANNELS))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        force = self.lin(x)
        self.mean = 0.9 * self.mean + 0.1 * force.detach().mean(0)
        return (force - self.mean) ** 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: GINConv(
            Sequential(Linear(CHANNELS, CHANNELS), BatchNorm1d(CHANNELS), ReLU(), Linear(CHANNELS, CHANNELS))
        ),
        lambda: GINConv(spectral_norm(Linear(CHANNELS, CHANNELS))),
        Perturbed,
        Averaged,
    ],
    ids=["batch norm", "spectral norm", "a counter", "a new average"],
)
@pytest.mark.parametrize("steps", [9, ONE_LEVEL + 6])
def test_running_statistics_are_counted_once(make, steps: int):
    networks = []
    for mode in ("store", "checkpoint"):
        torch.manual_seed(0)
        network = GraphCON(make(), steps)
        gradients = _all_gradients(network, mode)
        networks.append(({name: value.clone() for name, value in network.named_buffers()}, gradients))
    (stored_buffers, stored), (buffers, recomputed) = networks
    assert stored_buffers.keys() == buffers.keys() != set()
    assert all(torch.equal(value, buffers[name]) for name, value in stored_buffers.items())
    assert all(torch.equal(value, recomputed[name]) for name, value in stored.items())


@pytest.mark.parametrize(
    "norm", [lambda: BatchNorm1d(CHANNELS), LazyBatchNorm1d], ids=["batch norm", "lazy batch norm"]
)
def test_what_normalises_the_steps_is_counted_once_too(norm):
    found = []
    for mode in ("store", "checkpoint"):
        torch.manual_seed(0)
        network = GraphCON(GCNConv(CHANNELS, CHANNELS), 9, norm=[norm() for _ in range(9)])
        gradients = _all_gradients(network, mode)
        found.append({name: value.clone() for name, value in network.named_buffers()} | gradients)
    stored, recomputed = found
    assert stored.keys() == recomputed.keys()
    assert all(torch.equal(value, recomputed[name]) for name, value in stored.items())


@pytest.mark.parametrize("steps", [5, ONE_LEVEL + 6])
def test_double_backward_agrees_too(steps: int):
    torch.manual_seed(0)
    network = GraphCON(GCNConv(CHANNELS, CHANNELS), steps, act="tanh").double()
    results = []
    for mode in ("store", "checkpoint"):
        network.memory = mode
        x = _x().double().requires_grad_()
        (slope,) = torch.autograd.grad(network(x, EDGES).square().sum(), x, create_graph=True)
        results.append(torch.autograd.grad(slope.square().sum(), [x, *network.parameters()]))
    for stored, recomputed in zip(*results, strict=True):
        torch.testing.assert_close(stored, recomputed, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("steps", [9, ONE_LEVEL + 6])
def test_running_statistics_allow_a_second_backward_pass(steps: int):
    found = []
    for mode in ("store", "checkpoint"):
        torch.manual_seed(0)
        norms = [BatchNorm1d(CHANNELS) for _ in range(steps)]
        network = GraphCON(GINConv(Linear(CHANNELS, CHANNELS)), steps, norm=norms, act="tanh", memory=mode)
        x = _x().requires_grad_()
        loss = network(x, EDGES).square().sum()
        (slope,) = torch.autograd.grad(loss, x, create_graph=True)
        slope.square().sum().backward(retain_graph=True)
        loss.backward()
        found.append([x.grad, *(p.grad for p in network.parameters()), *network.buffers()])
    assert all(torch.equal(stored, recomputed) for stored, recomputed in zip(*found, strict=True))


@pytest.mark.parametrize(
    "make",
    [
        lambda: GCNConv(CHANNELS, CHANNELS),
        lambda: GINConv(Linear(CHANNELS, CHANNELS)),
        lambda: SAGEConv(CHANNELS, CHANNELS, aggr="max"),
        lambda: ChebConv(CHANNELS, CHANNELS, 3),
        lambda: GraphConv(CHANNELS, CHANNELS),
    ],
    ids=["gcn", "gin", "sage max", "cheb", "graph conv"],
)
def test_what_stood_in_the_module_at_the_forward_pass_is_recomputed(make):
    """The weights that functional_call lends, and the dropout of training."""
    found = []
    for mode in ("store", "checkpoint"):
        torch.manual_seed(0)
        network = GraphCON(make(), 9, dropout=0.2, memory=mode)
        lent = {name: torch.randn_like(p).mul_(0.3).requires_grad_() for name, p in network.named_parameters()}
        x = _x().requires_grad_()
        loss = functional_call(network, lent, (x, EDGES)).square().sum()
        network.eval()
        found.append(torch.autograd.grad(loss, [x, *lent.values()]))
        assert not any(module.training for module in network.modules())
    assert all(torch.equal(stored, recomputed) for stored, recomputed in zip(*found, strict=True))


@pytest.mark.parametrize("steps", [9, ONE_LEVEL + 6])
@pytest.mark.parametrize("changed", ["coupling.lin.weight", "edge_weight"])
def test_what_was_changed_in_place_before_the_backward_pass_is_refused(changed: str, steps: int):
    network, weight = GraphCON(GCNConv(CHANNELS, CHANNELS), steps), torch.rand(EDGES.size(1))
    network.memory = "checkpoint"
    loss = network(_x(), EDGES, edge_weight=weight).sum()
    with torch.no_grad():
        (weight if changed == "edge_weight" else network.get_parameter(changed)).mul_(2)
    with pytest.raises(RuntimeError, match=rf"{changed} was changed in place .* change it after backward\(\)"):
        loss.backward()


@pytest.mark.parametrize("steps", [9, ONE_LEVEL + 6])
def test_a_sparse_matrix_that_is_read_is_not_taken_for_changed(steps: int):
    """To read the indices of a COO matrix counts as a change of it in torch; a change of a weight is still refused."""
    adjacency = torch.sparse_coo_tensor(EDGES.flip(0), torch.ones(EDGES.size(1)), (NODES, NODES)).coalesce()
    network, found = GraphCON(GCNConv(CHANNELS, CHANNELS), steps, act="tanh"), []
    for mode in ("store", "checkpoint"):
        network.memory = mode
        found.append(torch.autograd.grad(network(_x(), adjacency).square().sum(), list(network.parameters())))
    assert all(torch.equal(stored, recomputed) for stored, recomputed in zip(*found, strict=True))
    loss = network(_x(), adjacency).sum()
    with torch.no_grad():
        network.coupling.lin.weight.mul_(2)
    with pytest.raises(RuntimeError, match=r"coupling.lin.weight was changed in place"):
        loss.backward()


def test_a_layer_that_makes_its_weights_in_the_first_pass_is_recomputed():
    torch.manual_seed(0)
    network = GraphCON(GraphConv(-1, CHANNELS), 9, memory="checkpoint")
    x = _x().requires_grad_()
    network(x, EDGES).sum().backward()
    expected = torch.autograd.grad(GraphCON(network.coupling, 9, memory="store")(x, EDGES).sum(), x)[0]
    assert torch.equal(x.grad, expected)


def test_fewer_tensors_are_kept_than_steps_taken():
    """Counts what the forward pass of 256 steps leaves alive for the backward pass."""
    kept: dict[str, int] = {}
    for mode in ("store", "checkpoint"):
        network = GraphCON(GCNConv(CHANNELS, CHANNELS), 256, memory=mode)
        seen: set[int] = set()
        alive = []

        def pack(value: Tensor, seen=seen, alive=alive) -> Tensor:
            if value.data_ptr() not in seen:
                seen.add(value.data_ptr())
                alive.append(value)
            return value

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
            network(_x().requires_grad_(), EDGES)
        kept[mode] = sum(value.numel() for value in alive)
    assert kept["checkpoint"] < kept["store"] / 10


def test_without_gradients_nothing_is_kept_in_either_mode():
    network = GraphCON(GCNConv(CHANNELS, CHANNELS), 9, memory="checkpoint")
    with torch.no_grad():
        assert not network(_x(), EDGES).requires_grad


def test_auto_stores_what_is_small_and_recomputes_what_is_large(monkeypatch):
    x = _x()
    assert memory.choose("auto", 1000, x) is memory.store
    monkeypatch.setattr(memory, "AUTO_BYTES", 1000)
    assert memory.choose("auto", 1000, x) is memory.checkpoint
    assert memory.choose("store", 1000, x) is memory.store


@pytest.mark.parametrize(
    "make",
    [
        lambda c: GINEConv(Linear(c, c), edge_dim=1),
        lambda c: SuperGATConv(c, c),
        lambda c: FiLMConv(c, c),
        lambda c: CGConv(c, dim=1),
        lambda c: GeneralConv(c, c, in_edge_channels=1),
    ],
)
def test_auto_expects_what_a_layer_keeps_of_its_messages_within_a_factor_of_three(monkeypatch, make):
    channels, edges = 32, random_graph(100, 8000)
    layer, x = make(channels), torch.randn(100, channels, requires_grad=True)
    takes = {"edge_attr": torch.rand(edges.size(1), 1)} if "edge_attr" in arguments_after_x(layer) else {}
    kept = {}

    def keep(value: Tensor) -> Tensor:
        kept[value.untyped_storage().data_ptr()] = value, value.untyped_storage().nbytes()
        return value

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
        GraphCON(layer, 4, memory="store")(x, edges, **takes)
    total = sum(size for _, size in kept.values())
    messages = messages_of(layer, edges, x)
    monkeypatch.setattr(memory, "AUTO_BYTES", 3 * total)
    assert memory.choose("auto", 4, x, messages) is memory.store
    monkeypatch.setattr(memory, "AUTO_BYTES", total // 3)
    assert memory.choose("auto", 4, x, messages) is memory.checkpoint


def test_messages_that_are_never_made_do_not_count():
    layer, x = GATConv(CHANNELS, CHANNELS, heads=3, concat=False), _x()
    loops = EDGES.size(1)
    assert messages_of(layer, EDGES, x) == 3 * loops * CHANNELS
    adjacency = to_torch_csr_tensor(EDGES, size=(NODES, NODES))
    assert messages_of(layer, adjacency, x) > 0
    assert messages_of(GraphConv(CHANNELS, CHANNELS), adjacency, x) == 0
    network = GraphCON(layer, 2)
    assert (network._prepare(x, None, (EDGES,), {})[2] == 0) == kernels.enabled()


def test_auto_stores_within_the_transforms_of_torch(monkeypatch):
    monkeypatch.setattr(memory, "AUTO_BYTES", 1000)
    network, x = GraphCON(GCNConv(CHANNELS, CHANNELS), 9), _x().requires_grad_()
    (expected,) = torch.autograd.grad(network(x, EDGES).square().sum(), x)
    found = torch.func.grad(lambda x: network(x, EDGES).square().sum())(x.detach())
    torch.testing.assert_close(found, expected)
    network.memory = "checkpoint"
    with pytest.raises(RuntimeError, match=r"memory='checkpoint' within torch\.func\.grad.* use memory='store'"):
        torch.func.jacrev(lambda x: network(x, EDGES))(x.detach())


@pytest.mark.parametrize("steps", [1, 2, 5, 64, 65, 100, 256, 1000, 1024])
def test_segments_cover_every_depth_and_grow_slower_than_it(steps: int):
    lengths = segment_lengths(steps)
    assert all(1 <= length <= steps for length in lengths)
    counts = [steps / lengths[0]] + [a / b for a, b in itertools.pairwise(lengths)] + [lengths[-1]]
    assert sum(counts) <= 3.5 * steps ** (1 / len(counts)) + 2
