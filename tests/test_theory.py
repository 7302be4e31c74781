"""The paper's mathematics, in the form that is true; docs/theory.md names the printed form beside each."""

import pytest
import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.nn import GATConv, GCNConv
from torch_geometric.utils import degree

from graphcon import GraphCON, kernels
from graphcon.couplings import build
from graphcon.diagnostics import (
    NodewiseGCN,
    coupled_energy,
    dirichlet_energy,
    energy_balance,
    gradient_bound,
    heavy_ball,
    leading_order_gradient,
    state_bound,
    steady_state,
    uncoupled_solution,
    volume_factor,
)
from graphcon.integrators import Adaptive

from graphs import random_graph, ring, star

DOUBLE = {"dtype": torch.float64}


class Weighted(Module):
    """F(X) = A X for a fixed matrix given as edges (j, i) with weights A_ij."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        return torch.zeros_like(x).index_add(0, edge_index[1], edge_weight.unsqueeze(-1) * x[edge_index[0]])


class Constant(Module):
    """A force that is whatever it is told to be: the adversary of the bounds."""

    def __init__(self, value: Tensor):
        super().__init__()
        self.value = value

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.value


def start(nodes: int = 6, channels: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.randn(2, nodes, channels, generator=generator, **DOUBLE)
    return x, y


def row_stochastic(edge_index: Tensor, nodes: int, seed: int = 0) -> Tensor:
    raw = torch.rand(edge_index.size(1), generator=torch.Generator().manual_seed(seed), **DOUBLE) + 0.1
    sums = torch.zeros(nodes, **DOUBLE).index_add(0, edge_index[1], raw)
    return raw / sums[edge_index[1]]


def test_dirichlet_energy_of_a_path_by_hand():
    x = torch.tensor([[0.0], [1.0], [3.0]])
    path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    assert dirichlet_energy(x, path) == pytest.approx(2 * (1 + 4) / 3)


def test_dirichlet_energy_of_a_trajectory_is_that_of_each_state():
    x, _y = start()
    xs = GraphCON(GCNConv(3, 3).double(), 5).trajectory(x, ring())
    assert dirichlet_energy(xs, ring()).tolist() == [dirichlet_energy(state, ring()).item() for state in xs]


@pytest.mark.parametrize("gamma", [0.3, 1.0, 4.0])
def test_without_force_and_damping_every_node_swings_as_a_cosine_and_a_sine(gamma: float):
    x, y = start()
    silent = Constant(torch.zeros_like(x))
    exact = GraphCON(silent, 7, dt=0.3, alpha=0.0, gamma=gamma, integrator="strang")
    torch.testing.assert_close(exact(x, ring(), y=y), uncoupled_solution(x, y, 7 * 0.3, gamma))
    fine = GraphCON(silent, 20_000, dt=1e-4, alpha=0.0, gamma=gamma)
    torch.testing.assert_close(fine(x, ring(), y=y), uncoupled_solution(x, y, 2.0, gamma), atol=1e-3, rtol=0)


def test_proposition_1_the_energy_is_conserved_with_each_edge_counted_once_and_drifts_with_each_counted_twice():
    x, y = start()
    edge_index = ring()
    weight = torch.full((edge_index.size(1),), 0.5, **DOUBLE)  # symmetric, rows sum to one
    reference = Adaptive(rtol=1e-12, atol=1e-12)
    flow = GraphCON(Weighted(), 20, dt=0.25, alpha=0.0, gamma=1.0, act=None, integrator=reference)
    xs, ys = flow.trajectory(x, edge_index, weight, y=y, return_velocity=True)
    energy = coupled_energy(xs, ys, edge_index, weight)
    torch.testing.assert_close(energy, energy[0].expand_as(energy), rtol=1e-10, atol=0)
    printed = 2 * energy - ys.square().sum((-1, -2))
    assert (printed / printed[0] - 1).abs().max() > 0.05


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.3])
def test_proposition_4_the_energy_balance_holds_for_a_matrix_that_is_not_symmetric(alpha: float):
    edge_index = random_graph(8, 14)
    x, y = start(8)
    weight = row_stochastic(edge_index, 8)
    steps, dt = 2000, 1e-3
    flow = GraphCON(Weighted(), steps, dt=dt, alpha=alpha, gamma=1.0, act=None, integrator="strang")
    xs, ys = flow.trajectory(x, edge_index, weight, y=y, return_velocity=True)
    left, right = energy_balance(xs, ys, dt * torch.arange(steps + 1, **DOUBLE), edge_index, weight, alpha)
    torch.testing.assert_close(left, right, rtol=1e-5, atol=0)


@pytest.mark.parametrize("dt", [0.1, 0.5])
def test_steady_states_do_not_depend_on_dt(dt: float):
    torch.manual_seed(0)
    conv = GCNConv(3, 3).double()
    x, _ = start()
    flow = GraphCON(conv, 4000, dt=dt, alpha=0.5, gamma=2.0, act="tanh")
    with torch.no_grad():
        settled, velocity = flow(x, ring(), return_velocity=True)
        expected = steady_state(lambda x: torch.tanh(conv(x, ring())), x, gamma=2.0, tolerance=1e-12)
    torch.testing.assert_close(settled, expected, atol=1e-9, rtol=0)
    assert velocity.abs().max() < 1e-9


@pytest.mark.parametrize("teleport", [0.1, 0.3])
def test_with_a_source_and_no_weights_the_steady_state_of_gcn_is_personalised_pagerank(teleport: float):
    x, _ = start(nodes=6, channels=6)
    edge_index = random_graph(6, 7)
    gamma, beta = 1 / (1 - teleport), teleport / (1 - teleport)
    layer = build("gcn", 6, values=False, bias=False).double()
    adjacency = layer(torch.eye(6, **DOUBLE), edge_index)
    network = GraphCON(layer, 2000, dt=0.5, alpha=1.0, gamma=gamma, act=None, source=beta).double()
    torch.nn.init.constant_(network.beta, beta)  # in double precision
    pagerank = teleport * torch.linalg.solve(torch.eye(6, **DOUBLE) - (1 - teleport) * adjacency, x)
    torch.testing.assert_close(network(x, edge_index), pagerank)


def test_a_steady_state_that_is_not_found_is_said_so():
    with pytest.raises(ArithmeticError, match="after 10 iterations X still changes by"):
        steady_state(lambda x: 2 * x + 1, torch.ones(2, 1), iterations=10)


def test_proposition_b2_the_true_bound_holds_against_an_adversarial_force():
    worst = 0.0
    for seed in range(20):
        x, y = start(5, 2, seed)
        generator = torch.Generator().manual_seed(seed)
        alpha, gamma = (0.2 + 2 * torch.rand(2, generator=generator)).tolist()
        dt = 0.9 * min(alpha / gamma, 1 / alpha)
        for steps in (1, 10, 60):
            # A tanh driven into saturation, always along the motion: the force that gains the most.
            state = (x, y)
            for _ in range(steps):
                push = Constant(1e6 * torch.where(state[1] >= 0, 1.0, -1.0).double())
                one = GraphCON(push, 1, dt=dt, alpha=alpha, gamma=gamma, act="tanh")
                state = one(state[0], ring(5), y=state[1], return_velocity=True)
            bound = state_bound(x, y, steps, dt, alpha, gamma, beta=1.0)
            worst = max(worst, float((state[0].square().sum(-1) / bound).max()))
    assert 0.1 < worst <= 1.0


def test_proposition_b2_refuses_a_step_it_does_not_speak_of():
    x, y = start()
    with pytest.raises(ValueError, match="dt < min"):
        state_bound(x, y, 10, dt=0.5, alpha=0.5, gamma=1.0, beta=1.0)


def _nodewise(weights: Tensor, dt: float) -> GraphCON:
    layers = [NodewiseGCN(weight) for weight in weights]
    return GraphCON(layers, dt=dt, alpha=1.0, gamma=1.0, act="tanh")


def _true_gradient(network: GraphCON, x: Tensor, y: Tensor, target: Tensor, edge_index: Tensor) -> Tensor:
    out = network(x.unsqueeze(-1), edge_index, y=y.unsqueeze(-1)).squeeze(-1)
    loss = (out - target).square().sum() / (2 * len(x))
    return torch.stack(torch.autograd.grad(loss, list(network.parameters())))


def _scalar_problem(seed: int, nodes: int, steps: int) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x, y, target = torch.randn(3, nodes, generator=generator, **DOUBLE)
    weights = torch.randn(steps, nodes, generator=generator, **DOUBLE)
    return weights, x, y, target, random_graph(nodes, 6, seed, undirected=True)


@pytest.mark.parametrize("seed", range(5))
def test_proposition_5_no_gradient_exceeds_the_bound(seed: int):
    weights, x, y, target, edge_index = _scalar_problem(seed, nodes=7, steps=12)
    dt = 1e-3
    gradient = _true_gradient(_nodewise(weights, dt), x, y, target, edge_index)
    assert gradient.abs().max() <= gradient_bound(weights, x, y, target, edge_index, dt, 1.0, 1.0)


def test_proposition_5_as_printed_is_exceeded_on_a_star():
    leaves, steps, dt = 10_000, 100, 1e-3
    edge_index, nodes = star(leaves), leaves + 1
    x, y, target = torch.ones(nodes, **DOUBLE), torch.zeros(nodes, **DOUBLE), torch.zeros(nodes, **DOUBLE)
    weights = torch.zeros(steps, nodes, **DOUBLE)
    gradient = _true_gradient(_nodewise(weights, dt), x, y, target, edge_index).abs().max()
    common = dt * (1 + 6 * steps * dt)  # beta' = beta = D = 1, Gamma = 6
    printed = common / nodes * (1.0 + steps * dt)  # max(|X0| + |Y0|) + (max|target| + beta sqrt(N dt))²
    assert gradient > 2 * printed
    assert gradient <= gradient_bound(weights, x, y, target, edge_index, dt, 1.0, 1.0)


def test_proposition_5_refuses_a_step_that_is_too_large_for_its_proof():
    weights, x, y, target, edge_index = _scalar_problem(0, nodes=7, steps=12)
    with pytest.raises(ValueError, match="dt=0.5 is too large"):
        gradient_bound(weights, x, y, target, edge_index, 0.5, 1.0, 1.0)


def test_proposition_6_the_true_formula_is_the_gradient_to_leading_order_and_the_printed_one_is_not():
    weights, x, y, target, edge_index = _scalar_problem(3, nodes=9, steps=8)
    errors = []
    for dt in (1e-2, 1e-3, 1e-4):
        network = _nodewise(weights, dt)
        truth = _true_gradient(network, x, y, target, edge_index)
        xs = network.trajectory(x.unsqueeze(-1), edge_index, y=y.unsqueeze(-1)).squeeze(-1)
        formula = leading_order_gradient(
            weights, xs, target, edge_index, dt, act_prime=lambda c: 1 - torch.tanh(c).square()
        )
        errors.append(float((formula - truth).norm() / truth.norm()))
    assert errors[1] < 2e-2
    assert errors[2] / errors[1] == pytest.approx(0.1, rel=0.2)  # shrinks with dt
    printed = _printed_proposition_6(weights, xs, target, edge_index, dt)
    assert (printed - truth).norm() / truth.norm() > 0.5


def _printed_proposition_6(weights: Tensor, xs: Tensor, target: Tensor, edge_index: Tensor, dt: float) -> Tensor:
    source, sink = edge_index
    scale = degree(sink, xs.size(1), dtype=xs.dtype).rsqrt()
    rows = []
    for x, weight in zip(xs[:-1], weights, strict=True):
        coupling = NodewiseGCN(weight)(x.unsqueeze(-1), edge_index).squeeze(-1).detach()
        inside = (1 - torch.tanh(coupling).square()) * x * (xs[-1] - target) * scale
        rows.append(2 * dt**2 / len(x) * scale * torch.zeros_like(x).index_add(0, sink, inside[source]))
    return torch.stack(rows)


@pytest.mark.parametrize("coupling", [GCNConv(2, 2), GATConv(2, 2)], ids=["gcn", "gat"])
@pytest.mark.parametrize(("dt", "alpha"), [(0.5, 0.5), (0.7, 0.0), (0.9, 1.7)])
def test_one_step_changes_volumes_by_the_same_factor_whatever_the_coupling_is(
    coupling: Module, dt: float, alpha: float
):
    network = GraphCON(coupling.double(), 1, dt=dt, alpha=alpha, act="tanh")
    x, y = start(4, 2)

    def step(flat: Tensor) -> Tensor:
        x, y = flat.view(2, 4, 2)
        return torch.stack(network(x, ring(4), y=y, return_velocity=True)).flatten()

    jacobian = torch.autograd.functional.jacobian(step, torch.stack([x, y]).flatten())
    assert torch.linalg.det(jacobian).item() == pytest.approx(volume_factor(4, 2, dt, alpha), rel=1e-9, abs=1e-12)


def test_the_velocity_can_be_eliminated_into_a_heavy_ball_step():
    torch.manual_seed(0)
    conv = GCNConv(3, 3).double()
    x, y = start()
    network = GraphCON(conv, 9, dt=0.4, alpha=0.7, gamma=1.2)
    with torch.no_grad():
        xs = heavy_ball(lambda x: conv(x, ring()).relu(), x, y, 9, dt=0.4, alpha=0.7, gamma=1.2)
    torch.testing.assert_close(network.trajectory(x, ring(), y=y), xs, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::graphcon.stability.DegenerateDynamicsWarning")
def test_the_papers_setting_for_the_citation_graphs_is_a_plain_gnn():
    torch.manual_seed(0)
    layers = [GCNConv(3, 3).double() for _ in range(6)]
    x, _ = start()
    network = GraphCON(layers, dt=1.0, alpha=1.0, gamma=1.0)
    plain = x
    with torch.no_grad():
        for layer in layers:
            plain = layer(plain, ring()).relu()
        torch.testing.assert_close(network(x, ring()), plain, rtol=1e-12, atol=1e-15)


def test_gcn_is_not_right_stochastic_and_keeps_the_square_roots_of_the_degrees_instead():
    edge_index = random_graph(12, 10, undirected=True)
    conv = GCNConv(1, 1, bias=False).double()
    torch.nn.init.ones_(conv.lin.weight)
    ones = torch.ones(12, 1, **DOUBLE)
    roots = (1 + degree(edge_index[1], 12, dtype=torch.float64)).sqrt().unsqueeze(-1)
    with torch.no_grad():
        assert (conv(ones, edge_index) - ones).abs().max() > 0.05
        torch.testing.assert_close(conv(roots, edge_index), roots)


@pytest.mark.parametrize(("dtype", "lost"), [(torch.float64, False), (torch.float32, True)], ids=str)
def test_undoing_the_steps_loses_everything_in_float32(dtype: torch.dtype, lost: bool):
    """Why there is no reversible memory mode: undoing divides by 1 - alpha dt at every step."""
    dt, alpha, gamma, steps = 1.0, 0.2, 1.1, 400
    torch.manual_seed(0)
    conv = GCNConv(3, 3).to(dtype)
    torch.nn.init.ones_(conv.bias)  # the state settles away from zero, as trained ones do
    start_x, start_y = (value.to(dtype) for value in start())
    # Undone is what was done, to the bit: the layer itself there and back.
    with torch.no_grad(), kernels.disabled():
        network = GraphCON(conv, steps, dt=dt, alpha=alpha, gamma=gamma)
        x, y = network(start_x, ring(), y=start_y, return_velocity=True)
        for _ in range(steps):
            x = x - dt * y
            y = (y - dt * (conv(x, ring()).relu() - gamma * x)) / (1 - alpha * dt)
    assert bool((x - start_x).abs().max() > 1.0) is lost
