"""The rivals that are differential equations: each against its formula, on the oscillator's integrators and memory."""

import pytest
import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.nn import AntiSymmetricConv

import graphcon
from graphcon import GraphCON
from graphcon.integrators import INTEGRATORS, SCHEMES, Scheme
from graphcon.models import find
from graphcon.models.flow import Flow
from graphcon.models.rivals.a_dgn import ADGN
from graphcon.models.rivals.cgnn import CGNN
from graphcon.models.rivals.gde import GDE
from graphcon.models.rivals.grand import GRAND
from graphcon.models.rivals.kuramoto import Kuramoto
from graphcon.models.rivals.pde_gcn import PDEGCN, PDEForce
from graphcon.stability import UnstableDynamicsWarning

from graphs import random_graph, ring

EQUATIONS = ("grand-l", "grand-nl", "pde-gcn-d", "pde-gcn-h", "pde-gcn-m", "cgnn", "gde", "a-dgn", "kuramoto")
PAIR = torch.tensor([[0, 1], [1, 0]])


def _example(nodes: int = 8, channels: int = 4) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    return torch.randn(nodes, channels, dtype=torch.float64), random_graph(nodes, 10, undirected=True)


@pytest.fixture(autouse=True)
def _double():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=lambda scheme: scheme.name)
def test_a_scheme_converges_in_its_order_to_the_exponential(scheme: type[Scheme]):
    matrix = torch.tensor([[-1.0, 2.0], [-2.0, -0.5]])
    x = torch.tensor([[1.0, 0.5]])
    exact = x @ torch.matrix_exp(matrix.t())

    def error(steps: int) -> float:
        step, state = scheme().bind(1 / steps), (x,)
        for _ in range(steps):
            state = step(lambda x: x @ matrix.t(), *state)
        return float((state[0] - exact).norm())

    if scheme.order is None:
        assert error(1) < 1e-5
    else:
        assert error(20) / error(40) == pytest.approx(2**scheme.order, rel=0.15)


@pytest.mark.parametrize("name", EQUATIONS)
def test_store_and_checkpoint_agree_to_the_last_bit_dropout_included(name: str):
    x, edge_index = _example()
    results = []
    for memory in ("store", "checkpoint"):
        torch.manual_seed(1)
        net = find(name).build(4, 6, 7, 2, dropout=0.3, memory=memory)
        out = net(x, edge_index)
        out.square().sum().backward()
        results.append([out, *(parameter.grad for parameter in net.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("name", ["grand-l", "grand-nl", "cgnn", "gde", "kuramoto"])
def test_small_steps_come_close_to_the_solution_in_continuous_time(name: str):
    x, edge_index = _example()

    def last(**options) -> Tensor:
        torch.manual_seed(1)
        return find(name).build(4, 4, options.pop("steps"), act="tanh", time=1.0, **options)(x, edge_index)

    exact = last(steps=1, method="dopri5")
    torch.testing.assert_close(last(steps=8, method="rk4"), exact, rtol=1e-3, atol=1e-4)
    assert not torch.allclose(last(steps=1, method="euler"), exact, rtol=1e-3, atol=1e-4)


def test_a_solver_that_chooses_its_steps_refuses_dropout():
    with pytest.raises(ValueError, match="dropout=0.5 with method='dopri5'.*use dropout=0.0, or method='rk4'"):
        find("gde").build(4, 4, 2, dropout=0.5, method="dopri5")


def test_detecting_divergence_names_the_step_of_a_rival_too():
    x, edge_index = _example()
    net = find("a-dgn").build(4, 4, 5, act=None, epsilon=1e200)
    with graphcon.detect_divergence(), pytest.raises(graphcon.DivergenceError, match="step 2 of 5.*euler, dt=1e\\+200"):
        net(x, edge_index)


def test_one_step_of_grand_worked_out_by_hand():
    dynamics = GRAND(1, linear=True, heads=1)
    with torch.no_grad():
        dynamics.conv.lin_query.weight.fill_(1.0)
        dynamics.conv.lin_key.weight.fill_(1.0)
        dynamics.beta.fill_(0.25)  # pyright: ignore[reportOptionalMemberAccess]  # asked for above
    x = torch.tensor([[1.0], [0.0]])
    # node 0 scores itself 1 and node 1 0; node 1 scores both 0; alpha = sigmoid(0) = 1/2
    e = torch.tensor(1.0).exp()
    expected = torch.stack([1 + 0.5 * (e / (e + 1) - 1) + 0.25, torch.tensor(0.5 * 0.5)]).unsqueeze(-1)
    torch.testing.assert_close(Flow(dynamics, 1, 1)(x, PAIR), expected)


def test_grand_without_a_source_keeps_what_is_constant_and_the_bounds_of_the_rest():
    x, edge_index = _example()
    for linear in (True, False):
        flow = Flow(GRAND(4, linear, add_source=False), 4, 20)
        torch.testing.assert_close(flow(torch.ones_like(x), edge_index), torch.ones_like(x))
        xs = flow.trajectory(x, edge_index)
        assert bool((xs.amax(1).diff(dim=0) <= 1e-12).all())


def test_linear_and_nonlinear_grand_differ_from_the_second_step_on():
    x, edge_index = _example()
    linear, nonlinear = GRAND(4, linear=True), GRAND(4, linear=False)
    nonlinear.load_state_dict(linear.state_dict())
    a, b = (Flow(dynamics, 4, 2).trajectory(x, edge_index) for dynamics in (linear, nonlinear))
    torch.testing.assert_close(a[1], b[1])
    assert not torch.allclose(a[2], b[2])


@pytest.mark.parametrize("weight", [True, False])
def test_cgnn_comes_to_rest_where_its_equation_says(weight: bool):
    x, edge_index = _example()
    torch.manual_seed(2)
    dynamics = CGNN(4, weight, alpha=0.6)
    if weight:
        with torch.no_grad():
            dynamics.d.uniform_(0.2, 0.8)  # pyright: ignore[reportOptionalMemberAccess]  # asked for above
    rest = Flow(dynamics, 4, 80, method="rk4", dt=1.0)(x, edge_index)
    slope = dynamics(x, edge_index)
    torch.testing.assert_close(slope(rest), torch.zeros_like(x), rtol=0, atol=1e-8)
    adjacency = torch.eye(8) + torch.zeros(8, 8).index_put((edge_index[1], edge_index[0]), torch.tensor(1.0))
    root = adjacency.sum(1).rsqrt()
    operator = 0.3 * (torch.eye(8) + root[:, None] * adjacency * root)
    mix = torch.eye(4) if dynamics.mixing() is None else dynamics.mixing()
    assert mix is not None
    torch.testing.assert_close(slope(rest), (operator - torch.eye(8)) @ rest + rest @ (mix - torch.eye(4)) + x)


def test_the_mixing_of_cgnn_is_symmetric_with_eigenvalues_between_zero_and_one():
    dynamics = CGNN(6)
    with torch.no_grad():
        dynamics.d.copy_(torch.linspace(-1, 2, 6))  # pyright: ignore[reportOptionalMemberAccess]  # asked for above
    mix = dynamics.mixing()
    assert mix is not None
    torch.testing.assert_close(mix, mix.t())
    expected = torch.linspace(-1, 2, 6).clamp(0, 1)
    torch.testing.assert_close(torch.linalg.eigvalsh(mix), expected, rtol=0, atol=1e-12)


def test_an_euler_step_of_gde_adds_its_gcn():
    x, edge_index = _example()
    dynamics = GDE(4, layers=2, act="tanh")
    first, second = dynamics.convs
    expected = x + 0.5 * second(first(x, edge_index).tanh(), edge_index)
    torch.testing.assert_close(Flow(dynamics, 4, 1, dt=0.5)(x, edge_index), expected)


def test_a_dgn_is_pygs_antisymmetric_layer_iterated():
    x, edge_index = _example()
    theirs = AntiSymmetricConv(4, num_iters=6, epsilon=0.2, gamma=0.3)
    ours = ADGN(4, gamma=0.3)
    ours.conv.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(Flow(ours, 4, 6, dt=0.2)(x, edge_index), theirs(x, edge_index))


def test_the_two_sums_of_kuramoto_are_the_sines_of_the_differences():
    x, edge_index = _example()
    dynamics = Kuramoto(4, K=0.7)
    (source, target), weight = dynamics.conv.attention(x, edge_index)
    state = torch.randn_like(x)
    pulls = weight[:, None] * (state[source] - state[target]).sin()
    expected = x + 0.7 * torch.zeros_like(x).index_add(0, target, pulls)
    torch.testing.assert_close(dynamics(x, edge_index)(state), expected)


def test_the_force_of_pde_gcn_worked_out_by_hand():
    force = PDEForce(1)
    with torch.no_grad():
        force.lin.weight.fill_(2.0)
    x = torch.tensor([[1.0], [0.0]])
    # both ends have degree 2 with their loop, so w = 1/2: f_0 = -w K tanh(K w (1 - 0)) = -tanh(1)
    expected = torch.tensor([[-1.0], [1.0]]) * torch.tensor(1.0).tanh()
    torch.testing.assert_close(force(x, PAIR)(x), expected)


def test_the_force_of_pde_gcn_is_the_one_of_its_matrices():
    x, edge_index = _example()
    force = PDEForce(4)
    once = edge_index[:, edge_index[0] < edge_index[1]]
    degree = torch.bincount(edge_index[1], minlength=8) + 1.0
    weight = degree[once].prod(0).rsqrt()
    rows = torch.arange(once.size(1))
    gradient = torch.zeros(once.size(1), 8).index_put((rows, once[1]), weight).index_put((rows, once[0]), -weight)
    k = force.lin.weight
    torch.testing.assert_close(force(x, edge_index)(x), -gradient.t() @ (gradient @ x @ k.t()).tanh() @ k)


@pytest.mark.parametrize("kind", ["diffusive", "hyperbolic", "mixed"])
def test_pde_gcn_steps_as_its_difference_equation_says(kind):
    x, edge_index = _example()
    flow = PDEGCN([PDEForce(4) for _ in range(5)], 5, kind, "tanh", h=0.4)
    xs, alpha, h = flow.trajectory(x, edge_index), flow.alpha, flow.dt
    states = torch.cat([xs[:1], xs])  # X_{-1} = X_0
    for n, force in enumerate(flow.layers):
        before, now, after = states[n : n + 3]
        left = alpha / h**2 * (after - 2 * now + before) + (1 - alpha) / h * (after - now)
        torch.testing.assert_close(left, force(now, edge_index)(now))


def test_diffusive_pde_gcn_lowers_the_dirichlet_energy_and_waves_do_not_for_ever():
    x, edge_index = _example()
    torch.manual_seed(3)
    force = PDEForce(4)
    heat, wave = (PDEGCN([force], 60, kind, "tanh", h=0.2) for kind in ("diffusive", "hyperbolic"))
    energy = graphcon.diagnostics.dirichlet_energy
    heat_energy, wave_energy = (energy(flow.trajectory(x, edge_index), edge_index) for flow in (heat, wave))
    assert heat_energy[-1] < 0.8 * heat_energy[0]
    assert bool((wave_energy.diff() > 0).any())


class _Force(Module):
    """The force of PDE-GCN as a layer, for the oscillator to wrap."""

    def __init__(self, force: PDEForce):
        super().__init__()
        self.force = force

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.force(x, edge_index)(x)


def test_hyperbolic_pde_gcn_is_the_oscillator_without_spring_and_damping():
    x, edge_index = _example()
    forces = [PDEForce(4) for _ in range(6)]
    waves = PDEGCN(forces, 6, "hyperbolic", "tanh", h=0.3)
    with pytest.warns(UnstableDynamicsWarning):  # a free particle: without coupling nothing holds it back
        oscillator = GraphCON([_Force(force) for force in forces], dt=0.3, alpha=0.0, gamma=0.0, act=None)
    expected = oscillator(x, edge_index, y=torch.zeros_like(x))
    torch.testing.assert_close(waves(x, edge_index), expected)


def test_diffusive_pde_gcn_is_the_oscillator_damped_so_much_that_it_forgets():
    x, edge_index = _example()
    forces = [PDEForce(4) for _ in range(6)]
    diffusion = PDEGCN(forces, 6, "diffusive", "tanh", h=0.5)
    step, state = INTEGRATORS["imex"]().bind(0.5, 2.0, 0.0), (x, torch.zeros_like(x))
    for force in forces:
        slope = force(x, edge_index)
        state = step(lambda x, slope=slope: slope(x) / 0.5, *state)
    torch.testing.assert_close(diffusion(x, edge_index), state[0])


def test_edge_weights_reach_the_rivals_that_take_them():
    x = torch.randn(6, 4)
    for name in ("pde-gcn-h", "cgnn", "gde", "a-dgn"):
        net = find(name).build(4, 4, 2, 2)
        assert net.supports_edge_weight
        weights = torch.rand(12)
        assert not torch.allclose(net(x, ring(), edge_weight=weights), net(x, ring(), edge_weight=torch.ones(12)))
    assert not find("grand-l").build(4, 4, 2, 2).supports_edge_weight


def test_the_activation_of_grand_stands_before_the_decoder():
    net = find("grand-l").build(4, 6, 2, 3).eval()
    x, edge_index = _example()
    torch.testing.assert_close(net.start(x), net.encoder(x))
    torch.testing.assert_close(net(x, edge_index), net.decoder(net.embed(x, edge_index).relu()))
