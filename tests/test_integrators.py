import itertools
import math

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GATConv, GCNConv

from graphcon import GraphCON
from graphcon.integrators import IMEX, INTEGRATORS, Adaptive, Strang, adaptive, oscillator_flow

from graphs import random_graph

NODES, CHANNELS, TIME = 10, 4, 2.0


@pytest.fixture(scope="module")
def problem() -> tuple[GCNConv, Tensor, Tensor]:
    torch.manual_seed(0)
    return GCNConv(CHANNELS, CHANNELS).double(), torch.randn(NODES, CHANNELS).double(), random_graph(NODES, 20)


def _solve(problem, integrator, steps: int, **options) -> Tensor:
    conv, x, edge_index = problem
    with torch.no_grad():
        return GraphCON(conv, steps, dt=TIME / steps, act="tanh", integrator=integrator, **options)(x, edge_index)


@pytest.mark.parametrize("integrator", [IMEX, Strang])
def test_the_error_against_the_continuous_solution_falls_with_the_stated_order(problem, integrator):
    exact = _solve(problem, Adaptive(rtol=1e-12, atol=1e-12), 1)
    errors = [float((_solve(problem, integrator(), n) - exact).norm()) for n in (32, 64, 128)]
    orders = [math.log2(coarse / fine) for coarse, fine in itertools.pairwise(errors)]
    assert orders == pytest.approx([integrator.order] * 2, abs=0.1)


def test_the_adaptive_solution_does_not_depend_on_where_the_steps_are(problem):
    tight = Adaptive(rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(_solve(problem, tight, 1), _solve(problem, tight, 7), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("rtol", "error"), [(1e-4, 1e-3), (1e-8, 1e-7)])
def test_the_adaptive_solution_is_as_exact_as_its_tolerance(problem, rtol: float, error: float):
    exact = _solve(problem, Adaptive(rtol=1e-12, atol=1e-13), 1)
    assert (_solve(problem, Adaptive(rtol=rtol, atol=rtol), 1) - exact).abs().max() < error


@pytest.mark.parametrize("dt", [0.1, 1.0, 30.0])
@pytest.mark.parametrize(
    ("alpha", "gamma"), [(0.0, 1.0), (0.5, 1.0), (2.0, 1.0), (2.0 + 1e-9, 1.0), (9.0, 0.1), (1.0, 0.0)]
)
def test_the_flow_is_the_matrix_exponential(dt: float, alpha: float, gamma: float):
    generator = torch.tensor([[0.0, 1.0], [-gamma, -alpha]], dtype=torch.float64)
    flow = torch.stack(oscillator_flow(dt, alpha, gamma)).view(2, 2)
    torch.testing.assert_close(flow, torch.linalg.matrix_exp(dt * generator), rtol=1e-8, atol=1e-12)


def test_the_flow_has_finite_and_right_gradients_where_oscillation_turns_into_decay():
    alpha = torch.tensor([0.0, 0.5, 1.9999, 2.0, 2.0001, 3.0], dtype=torch.float64, requires_grad=True)
    gamma = torch.ones(6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, g: oscillator_flow(0.7, a, g), (alpha, gamma))


def test_strang_stays_bounded_where_imex_explodes(problem):
    conv, x, edge_index = problem
    stiff = {"dt": 1.0, "alpha": 3.0, "gamma": 50.0, "act": "tanh"}
    with torch.no_grad(), pytest.warns(UserWarning, match="unstable"):
        exploded = GraphCON(conv, 30, **stiff)(x, edge_index)
    with torch.no_grad():
        assert GraphCON(conv, 30, integrator="strang", **stiff)(x, edge_index).abs().max() < 10
    assert exploded.abs().max() > 1e10


@pytest.mark.parametrize(("shared", "evaluations"), [(True, 6), (False, 10)])
def test_strang_evaluates_a_shared_layer_once_a_step(problem, shared: bool, evaluations: int):
    conv, x, edge_index = problem
    calls = []
    hook = conv.register_forward_hook(lambda *_: calls.append(1))
    GraphCON(conv if shared else [conv] * 5, 5, integrator="strang")(x, edge_index)
    hook.remove()
    assert len(calls) == evaluations


def test_strang_with_one_and_the_same_layer_per_step_is_strang_with_a_shared_layer(problem):
    conv, x, edge_index = problem
    shared = GraphCON(conv, 5, integrator="strang")(x, edge_index)
    torch.testing.assert_close(shared, GraphCON([conv] * 5, integrator="strang")(x, edge_index))


@pytest.mark.parametrize("name", INTEGRATORS)
def test_numbers_and_equal_numbers_per_channel_give_the_same(problem, name: str):
    conv, x, edge_index = problem
    fixed = GraphCON(conv, 4, integrator=name)
    learned = GraphCON(conv, 4, integrator=name, trainable=True).double()
    torch.testing.assert_close(fixed(x, edge_index), learned(x, edge_index))


def test_every_integrator_states_its_facts():
    for name, integrator in INTEGRATORS.items():
        assert integrator.name == name
        assert integrator.__doc__
        assert integrator.order in (1, 2, None)
    assert repr(Adaptive(rtol=1e-3)) == "Adaptive(rtol=0.001, atol=1e-08, method='dopri5')"


def test_dropout_and_a_solver_that_repeats_its_calls_are_refused_together(problem):
    with pytest.raises(ValueError, match="the same at every call"):
        GraphCON(problem[0], 4, integrator="adaptive", dropout=0.5)


def test_a_layer_that_drops_at_random_is_refused_by_a_solver_that_repeats_its_calls():
    torch.manual_seed(0)
    network = GraphCON(GATConv(CHANNELS, CHANNELS, dropout=0.5), 2, integrator="adaptive")
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    before = torch.get_rng_state()
    with pytest.raises(ValueError, match=r"not the same at a second call.*dropout=0.0.*integrator='strang'"):
        network(x, edge_index)
    assert torch.equal(torch.get_rng_state(), before)
    assert network.eval()(x, edge_index).isfinite().all()


def test_a_solver_that_does_not_get_through_a_step_says_so(problem, monkeypatch):
    monkeypatch.setattr(adaptive, "MOST_STEPS", 20)
    conv, x, edge_index = problem
    network = GraphCON(conv, 1, integrator="adaptive", act=lambda f: 1e6 * torch.sin(1e6 * f))
    with pytest.raises(ArithmeticError, match=r"did not get through a step of dt=0.5.*larger tolerances"):
        network(x, edge_index)
