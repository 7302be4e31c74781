import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import GCNConv

from graphcon import DegenerateDynamicsWarning, GraphCON, UnstableDynamicsWarning
from graphcon.couplings import PointwiseConv
from graphcon.stability import analyse, analyse_exact, coupled_growth

numbers = st.floats(0.0, 5.0).map(lambda value: round(value, 3))
steps = st.floats(0.01, 3.0).map(lambda value: round(value, 3))


def _matrix(dt: float, alpha: float, gamma: float) -> np.ndarray:
    return np.array([[1 - gamma * dt**2, dt * (1 - alpha * dt)], [-gamma * dt, 1 - alpha * dt]])


@given(dt=steps, alpha=numbers, gamma=numbers)
def test_the_step_is_stable_exactly_where_its_powers_stay_bounded(dt: float, alpha: float, gamma: float):
    boundary = min(abs(alpha * dt - 2), abs(gamma * dt**2 - (4 - 2 * alpha * dt)))
    if boundary < 1e-6:
        return
    law = alpha * dt < 2 and 0 < gamma * dt**2 < 4 - 2 * alpha * dt
    at_rest = gamma == 0 and 0 < alpha * dt < 2
    assert analyse(dt, alpha, gamma).stable == (law or at_rest)
    with np.errstate(all="ignore"):
        powers = np.linalg.norm(np.linalg.matrix_power(_matrix(dt, alpha, gamma), 2**40))
    assert analyse(dt, alpha, gamma).stable == bool(powers < 1e8)


@given(alpha=numbers, gamma=numbers, real=st.floats(-3, 3), imaginary=st.floats(-3, 3))
def test_complex_eigenvalues_of_the_force_are_held_by_damping_alone(
    alpha: float, gamma: float, real: float, imaginary: float
):
    room = gamma - real
    margin = min(abs(room), abs(abs(imaginary) - alpha * math.sqrt(max(room, 0.0))))
    if margin < 0.05:
        return
    bounded = room > 0 and abs(imaginary) < alpha * math.sqrt(room)
    assert (coupled_growth(1e-4, alpha, gamma, complex(real, imaginary)) < 1) == bounded


def test_a_walk_grows_as_the_largest_eigenvalue_of_its_force_says():
    torch.manual_seed(0)
    force = PointwiseConv(24, 24, bias=False).double()
    oscillator = GraphCON(force, steps=400, dt=0.5, alpha=0.2, gamma=1.1, act=None)
    states = oscillator.trajectory(torch.randn(3, 24, dtype=torch.float64), torch.empty(2, 0, dtype=torch.long))
    measured = (states[400].norm() / states[300].norm()) ** 0.01
    eigenvalues = np.linalg.eigvals(force.weight.detach().numpy())
    assert measured.item() == pytest.approx(max(coupled_growth(0.5, 0.2, 1.1, one) for one in eigenvalues), abs=1e-3)
    assert measured > 1  # stable as it is without coupling


@given(dt=steps, alpha=numbers, gamma=numbers)
def test_the_spectral_radius_is_that_of_the_step(dt: float, alpha: float, gamma: float):
    verdict = analyse(dt, alpha, gamma)
    radius = max(abs(np.linalg.eigvals(_matrix(dt, alpha, gamma))))
    assert verdict.spectral_radius == pytest.approx(radius, abs=1e-6)


@given(alpha=numbers, gamma=numbers)
def test_the_range_of_dt_ends_where_stability_does(alpha: float, gamma: float):
    max_dt = analyse(1.0, alpha, gamma).max_dt
    if max_dt == 0:
        assert alpha == gamma == 0
        return
    assert analyse(0.999 * max_dt, alpha, gamma).stable
    assert not analyse(1.001 * max_dt, alpha, gamma).stable


@pytest.mark.parametrize(
    ("dt", "alpha", "gamma", "regime"),
    [
        (1.0, 1.0, 1.0, "degenerate"),
        (0.5, 2.0, 4.0, "degenerate"),
        (0.1, 10.0, 100.0, "degenerate"),
        (0.5, 0.5, 1.0, "oscillating"),
        (1.0, 0.0, 1.0, "conservative"),
        (0.1, 3.0, 1.0, "overdamped"),
        (1.0, 1.0, 0.76, "overdamped"),
        (0.5, 1.0, 0.0, "overdamped"),
        (0.1, (2 * math.sqrt(0.001) - 0.001) / 0.1, 0.1, "overdamped"),
        (1e-5, 0.0, 1.0, "conservative"),
        (1e-9, 0.0, 1.0, "conservative"),
        (1e-6, 0.5, 1.0, "oscillating"),
        (1e-6, 3.0, 1.0, "overdamped"),
        (1.0, 0.0, 0.0, "unstable"),
        (2.0, 0.0, 1.0, "unstable"),
        (3.0, 0.1, 1.0, "unstable"),
    ],
)
def test_the_regime_has_a_name(dt: float, alpha: float, gamma: float, regime: str):
    verdict = analyse(dt, alpha, gamma)
    assert verdict.regime == regime
    assert str(verdict).startswith(f"{regime} (")
    assert bool(verdict.cure) == (regime in ("degenerate", "unstable"))


@given(dt=steps, alpha=numbers, gamma=numbers)
def test_the_words_tell_whether_the_sign_changes_at_every_step(dt: float, alpha: float, gamma: float):
    verdict = analyse(dt, alpha, gamma)
    low, high = sorted(np.linalg.eigvals(_matrix(dt, alpha, gamma)).real)
    if verdict.regime == "overdamped" and gamma > 0 and abs(low + high) > 1e-6:
        assert ("changes sign at every one" in verdict.explanation) == (low + high < 0)
        assert ("without oscillating" in verdict.explanation) == (low + high > 0)


def test_a_step_on_the_border_is_not_said_to_grow():
    assert "does not decay" in analyse(dt=2.0, alpha=0.0, gamma=1.0).explanation
    assert "grows by" in analyse(dt=2.1, alpha=0.0, gamma=1.0).explanation


@pytest.mark.parametrize(
    ("alpha", "gamma", "regime"),
    [(1.0, 1.0, "oscillating"), (0.0, 9.0, "conservative"), (3.0, 1.0, "overdamped"), (0.0, 0.0, "unstable")],
)
def test_the_exact_flow_knows_no_limit_of_dt(alpha: float, gamma: float, regime: str):
    verdict = analyse_exact(100.0, alpha, gamma)
    assert verdict.regime == regime
    assert verdict.max_dt == (0.0 if regime == "unstable" else math.inf)
    flow = torch.linalg.matrix_exp(0.3 * torch.tensor([[0.0, 1.0], [-gamma, -alpha]]).double())
    assert analyse_exact(0.3, alpha, gamma).spectral_radius == pytest.approx(
        float(torch.linalg.eigvals(flow).abs().max()), abs=1e-6
    )


def test_a_degenerate_oscillator_warns_with_the_cure():
    with pytest.warns(DegenerateDynamicsWarning, match=r"X_n = act\(F\(X_\(n-1\)\)\), a plain GNN.*Take a smaller dt"):
        GraphCON(GCNConv(2, 2), 3, dt=1.0, alpha=1.0, gamma=1.0)


def test_an_unstable_oscillator_warns_with_the_cure():
    with pytest.warns(UnstableDynamicsWarning, match=r"grows by .* a step. Take dt < 1.902"):
        GraphCON(GCNConv(2, 2), 3, dt=3.0, alpha=0.1, gamma=1.0)


def test_the_defaults_are_a_real_oscillator_and_say_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer = GraphCON(GCNConv(2, 2), 3)
        layer(torch.randn(3, 2), torch.tensor([[0, 1], [1, 2]]))
    assert layer.stability.regime == "oscillating"


def _build_and_call_three_times() -> None:
    layer = GraphCON(GCNConv(2, 2), 3, dt=1.0, alpha=0.0, gamma=0.0)
    for _ in range(3):
        layer(torch.randn(3, 2), torch.tensor([[0, 1], [1, 2]]))


def test_a_warning_comes_once_and_not_at_every_call():
    with pytest.warns(UnstableDynamicsWarning) as caught:
        _build_and_call_three_times()
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("integrator", ["strang", "adaptive"])
def test_what_is_degenerate_for_the_papers_scheme_is_not_for_the_others(integrator: str):
    assert (
        GraphCON(GCNConv(2, 2), 3, dt=1.0, alpha=1.0, gamma=1.0, integrator=integrator).stability.regime
        == "oscillating"
    )


@pytest.mark.parametrize("analysis", [analyse, analyse_exact, lambda *numbers: coupled_growth(*numbers, 0.5)])
@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((-1.0, 0.5, 1.0), "dt=-1.0, but dt must be finite and positive"),
        ((0.0, 0.5, 1.0), "dt=0.0, but dt must be finite and positive"),
        ((0.5, math.nan, 1.0), "alpha=nan, but alpha must be finite and not negative"),
        ((0.5, 0.5, -1.0), "gamma=-1.0, but gamma must be finite and not negative"),
    ],
)
def test_numbers_that_no_step_can_have_are_refused(analysis, numbers: tuple[float, ...], message: str):
    with pytest.raises(ValueError, match=message):
        analysis(*numbers)


def test_a_step_beyond_all_bounds_is_unstable():
    with pytest.warns(UnstableDynamicsWarning, match=r"dt = 1e\+100 is not below 1.562"):
        GraphCON(GCNConv(2, 2), 3, dt=1e100)
