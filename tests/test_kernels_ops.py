"""The ops by themselves: what torch asks of an op, exact derivatives, and the plain path beside each."""

from dataclasses import astuple

import numba
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.library import opcheck

from graphcon import GraphCON, kernels
from graphcon.kernels import _runtime
from graphcon.kernels.counter import draw_seeds, keep_mask, threshold
from graphcon.kernels.coupling import Coupling, Oscillation
from graphcon.kernels.loops import _gemm
from graphcon.kernels.maximum import maximum
from graphcon.kernels.oscillate import oscillate
from graphcon.kernels.packing import pack, packed, unpacked
from graphcon.kernels.propagate import edge_products, propagate, rows_of
from graphcon.kernels.structure import Graph, csr, plain_csr
from graphcon.kernels.walk import walk

from graphs import random_graph
from kernel_cases import CASES, CHANNELS, build

# In double precision only these use them: compiled by one process, they are compiled once.
pytestmark = pytest.mark.xdist_group("kernels")

NODES, STEPS = 7, 3
EDGES = random_graph(NODES, 8)
KINDS = [
    "gcn weighted",
    "gat attributed",
    "gat mean",
    "gatv2 attributed",
    "transformer",
    "transformer mean attributed",
    "dot product",
    "gated gcn",
    "res gated attributed",
    "gmm",
]


def arguments(name: str, dropout: float = 0.0, dtype: torch.dtype = torch.float64) -> tuple:
    """What the walk of a layer is called with: everything needs gradients."""
    layer = build(name, dtype)
    if dropout and hasattr(layer, "dropout"):
        layer.dropout = dropout
    x, y = (torch.randn(NODES, CHANNELS, dtype=dtype) for _ in range(2))
    coupling = kernels.bind(layer, x, (EDGES,), CASES[name].per_edge(EDGES.size(1), dtype))
    assert isinstance(coupling, Coupling)
    alpha, gamma = (torch.rand(CHANNELS, dtype=dtype) for _ in range(2))
    oscillation = Oscillation("tanh", 0.0, dropout, 0.5, alpha, gamma)
    theta = pack(coupling.plan, CHANNELS, coupling.parts(alpha, gamma)).detach()
    edge = coupling._edge(x).detach()
    given = [value.clone().requires_grad_() for value in (x, y, theta, edge)]
    plan = oscillation.into(coupling.plan)
    return (
        *given,
        list(coupling.graph[:5]),
        coupling.draw(STEPS, dropout),
        STEPS,
        *astuple(plan),
        15 if edge.numel() else 13,
    )


@pytest.mark.parametrize("name", KINDS)
def test_the_walk_is_an_op_as_torch_wants_it(name: str):
    opcheck(walk, arguments(name))


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("name", KINDS)
def test_the_derivatives_of_the_walk_are_exact(name: str, dropout: float):
    x, y, theta, edge, *rest = arguments(name, dropout)

    def run(*given: Tensor) -> tuple[Tensor, ...]:
        return walk(*given, *rest)[:4]

    assert gradcheck(run, (x, y, theta, edge), fast_mode=True)


@pytest.mark.parametrize("name", ["gcn weighted", "gat mean"])
def test_the_derivatives_of_the_derivatives_are_exact(name: str):
    x, y, theta, edge, *rest = arguments(name, 0.4)
    assert gradgradcheck(lambda *given: walk(*given, *rest)[:2], (x, y, theta, edge), fast_mode=True)


@pytest.mark.parametrize("memory", ["store", "checkpoint"])
@pytest.mark.parametrize("name", ["gat mean", "gatv2 mean", "transformer", "residual gcn", "gin", "sage max", "cheb"])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per-step"])
def test_a_network_has_derivatives_of_derivatives(name: str, memory: str, shared: bool):
    layers = [build(name, torch.float64, seed=seed) for seed in range(1 if shared else STEPS)]
    network = GraphCON(layers[0] if shared else layers, STEPS, act="tanh", memory=memory)
    x = torch.randn(NODES, CHANNELS)
    inputs = [x.double().requires_grad_(), *network.parameters()]

    def second() -> tuple[Tensor, ...]:
        first = torch.autograd.grad(network(inputs[0], EDGES).square().sum(), inputs, create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in first), inputs)

    found = second()
    with kernels.disabled():
        for a, b in zip(found, second(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["gcn", "gat mean", "transformer", "dot product", "gatv2"])
def test_parameters_are_packed_and_unpacked_as_in_plain_torch(name: str):
    coupling = kernels.bind(build(name, torch.float64), torch.randn(NODES, CHANNELS, dtype=torch.float64), (EDGES,), {})
    assert isinstance(coupling, Coupling)
    alpha, gamma = (torch.rand(CHANNELS, dtype=torch.float64, requires_grad=True) for _ in range(2))
    parts = coupling.parts(alpha, gamma)
    theta = pack(coupling.plan, CHANNELS, parts)
    gtheta, asked = torch.randn_like(theta), [part for part in parts if part.requires_grad]
    wanted = [part.requires_grad for part in parts]
    with torch.no_grad():
        torch.testing.assert_close(packed(coupling.plan, CHANNELS, parts), theta.detach())
        found = unpacked(coupling.plan, CHANNELS, parts, gtheta.clone(), wanted)
    assert [g is not None for g in found] == wanted
    expected = torch.autograd.grad(theta, asked, gtheta)
    torch.testing.assert_close([g for g in found if g is not None], list(expected))


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("name", KINDS)
def test_the_plain_path_gives_the_same(name: str, dropout: float, monkeypatch):
    def run() -> list[Tensor]:
        torch.manual_seed(5)
        x, y, theta, edge, *rest = arguments(name, dropout)
        out = walk(x, y, theta, edge, *rest)[:2]
        weight = torch.linspace(-1, 1, out[0].numel(), dtype=x.dtype).view_as(out[0])
        found = torch.autograd.grad(((out[0] - 2 * out[1]) * weight).sum(), [x, y, theta, edge])
        return [*out, *found]

    compiled = run()
    monkeypatch.setattr(_runtime, "compiled", lambda x: False)
    for a, b in zip(compiled, run(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("loops", [True, False])
def test_the_structure_is_an_op_and_has_a_plain_twin(loops: bool):
    edge_index = torch.tensor([[0, 3, 3, 1, 4, 4, 0, 2], [1, 3, 3, 1, 0, 0, 1, 4]])
    opcheck(csr.op, (edge_index, 6, loops))
    for found, expected in zip(csr(edge_index, 6, loops), plain_csr(edge_index, 6, loops), strict=True):
        assert torch.equal(found, expected)


def test_of_several_loops_the_last_counts_and_the_order_of_a_row_is_that_of_the_edges():
    graph = Graph(*csr(torch.tensor([[2, 1, 1, 0], [1, 1, 1, 1]]), 3, True))
    assert graph.ptr.tolist() == [0, 1, 4, 5]
    assert graph.col.tolist() == [0, 2, 0, 1, 2, 0, 0]
    assert graph.edge.tolist() == [4, 0, 3, 2, 4, 5, 5]


def _rows(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
    graph = Graph(*csr(EDGES, NODES, True))
    x = torch.randn(NODES, CHANNELS, dtype=dtype, requires_grad=True)
    return x, torch.randn(len(graph.col), 1, dtype=dtype, requires_grad=True), rows_of(graph)


def test_propagation_is_an_op_with_all_its_derivatives(monkeypatch):
    x, edge, rows = _rows()
    g = torch.randn_like(x, requires_grad=True)
    opcheck(propagate.op, (x, edge, *rows))
    opcheck(edge_products.op, (g, x, *rows))
    assert gradcheck(lambda x, edge: propagate(x, edge, *rows), (x, edge))
    assert gradgradcheck(lambda x, edge: propagate(x, edge, *rows), (x, edge))
    found = propagate(x, edge, *rows), edge_products(g, x, *rows)
    monkeypatch.setattr(_runtime, "compiled", lambda x: False)
    torch.testing.assert_close(found, (propagate(x, edge, *rows), edge_products(g, x, *rows)))


def test_the_maximum_is_an_op_with_all_its_derivatives(monkeypatch):
    graph = Graph(*csr(torch.cat([EDGES, EDGES[:, :3]], 1), NODES + 1, False))  # edges twice, and a node alone
    rows = graph.ptr, graph.col, graph.tptr, graph.trow
    x = torch.randn(NODES + 1, CHANNELS, dtype=torch.float64, requires_grad=True)
    opcheck(maximum.op, (x, *rows))
    assert gradcheck(lambda x: maximum(x, *rows)[0], (x,))
    assert gradgradcheck(lambda x: maximum(x, *rows)[0], (x,))
    out = maximum(x, *rows)
    slope = torch.autograd.grad(out[0].square().sum(), x)[0]
    monkeypatch.setattr(_runtime, "compiled", lambda x: False)
    plain = maximum(x, *rows)
    torch.testing.assert_close(out, plain)
    torch.testing.assert_close(slope, torch.autograd.grad(plain[0].square().sum(), x)[0])


@pytest.mark.parametrize("act", ["tanh", "sigmoid", "elu", "silu", "gelu", "identity"])
def test_the_elementwise_step_is_an_op_with_all_its_derivatives(act: str, monkeypatch):
    z, x, y = (torch.randn(NODES, CHANNELS, dtype=torch.float64, requires_grad=True) for _ in range(3))
    alpha, gamma = (torch.rand(CHANNELS, dtype=torch.float64, requires_grad=True) for _ in range(2))
    rest = torch.tensor(11), act, 1.0, 0.3, 0.5
    opcheck(oscillate.op, (z, x, y, alpha, gamma, *rest))
    assert gradcheck(lambda *given: oscillate(*given, *rest)[:2], (z, x, y, alpha, gamma), fast_mode=True)
    assert gradgradcheck(lambda *given: oscillate(*given, *rest)[:2], (z, x, y, alpha, gamma), fast_mode=True)
    found = oscillate(z, x, y, alpha, gamma, *rest)
    monkeypatch.setattr(_runtime, "compiled", lambda x: False)
    torch.testing.assert_close(found, oscillate(z, x, y, alpha, gamma, *rest))


def test_random_bits_from_a_counter_are_fair_and_independent():
    dropout, rows, columns = 0.3, 4000, 50
    torch.manual_seed(0)
    first, second = (keep_mask(seed, rows, columns, dropout, torch.float64) for seed in draw_seeds(1)[0])
    assert set(first.unique().tolist()) == {0.0, 1 / (1 - dropout)}
    for mask in (first, second):
        kept = (mask > 0).double()
        assert abs(kept.mean() - (1 - dropout)) < 5 * (dropout * (1 - dropout) / kept.numel()) ** 0.5
        for dim, count in ((0, rows), (1, columns)):
            assert (kept.mean(dim) - (1 - dropout)).abs().max() < 6 * (dropout * (1 - dropout) / count) ** 0.5
    a, b = ((mask > 0).double() - (1 - dropout) for mask in (first, second))
    for other in (b, a.roll(1, 0), a.roll(1, 1)):
        assert abs((a * other).mean()) < 5 * dropout * (1 - dropout) / a.numel() ** 0.5
    assert threshold(0.5) == 2**31


def test_compile_and_export_see_one_op_and_no_break():
    network = GraphCON(build("gcn"), 5)
    x = torch.randn(NODES, CHANNELS)
    seen: list[str] = []

    def backend(module: torch.fx.GraphModule, _: list):
        seen.extend(str(node.target) for node in module.graph.nodes if "graphcon" in str(node.target))
        return module.forward

    torch._dynamo.reset()
    compiled = torch.compile(network, backend=backend, fullgraph=True)
    torch.testing.assert_close(compiled(x, EDGES), network(x, EDGES))
    assert [name for name in seen if "walk" in name] == ["graphcon.walk.default"]
    program = torch.export.export(network, (x, EDGES))
    targets = [str(node.target) for node in program.graph.nodes if "graphcon" in str(node.target)]
    assert sorted(targets) == ["graphcon.csr.default", "graphcon.walk.default"]
    torch.testing.assert_close(program.module()(x, EDGES), network(x, EDGES))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_without_the_products_of_torch_those_of_scipy_are_taken(monkeypatch, dtype):
    own = _gemm.gemm(dtype)
    monkeypatch.setattr(torch, "__file__", "nowhere/__init__.py")
    fallback = _gemm.gemm.__wrapped__(dtype)
    assert fallback != own

    @numba.njit
    def both(gemm, a, b, out):
        _gemm.multiply(gemm, a, b, True, out)
        _gemm.add_product(gemm, a, False, b, True, out)

    a, b, out = torch.randn(5, 3, dtype=dtype), torch.randn(4, 3, dtype=dtype), torch.empty(5, 4, dtype=dtype)
    both(fallback, a.numpy(), b.numpy(), out.numpy())
    torch.testing.assert_close(out, 2 * a @ b.t())
