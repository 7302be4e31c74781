from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from graphcon import stability
from graphcon.integrators._base import Coefficient, Force, Integrator, State

# A solver that has taken so many steps within one of dt does not get to its end.
MOST_STEPS = 10_000


class Adaptive(Integrator):
    r"""The continuous-time solution of :math:`X'' = \sigma(F(X)) - \gamma X - \alpha X'`, to given tolerances.

    The reference the other schemes are measured against, by torchdiffeq's adaptive solvers: as many evaluations of
    the force as the tolerances ask for. Every step is solved by itself over a time of dt, so that one layer per step
    means a coupling that is constant within a step. Gradients go through the solver's own operations.

    Args:
        rtol (float, optional): Relative tolerance. (default: :obj:`1e-6`)
        atol (float, optional): Absolute tolerance. (default: :obj:`1e-8`)
        method (str, optional): A solver of torchdiffeq. (default: :obj:`"dopri5"`)
    """

    name = "adaptive"
    order = None
    unconditionally_stable = True
    allows_random_force = False

    def __init__(self, rtol: float = 1e-6, atol: float = 1e-8, method: str = "dopri5"):
        torchdiffeq("integrator='adaptive'")
        self.rtol, self.atol, self.method = rtol, atol, method

    def bind(self, dt: float, alpha: Coefficient, gamma: Coefficient) -> Callable[..., State]:
        odeint = torchdiffeq("integrator='adaptive'").odeint

        def step(force: Force, x: Tensor, y: Tensor) -> State:
            _refuse_random(force, x)

            def slope(_: Tensor, state: State) -> State:
                x, y = state
                return y, force(x) - gamma * x - alpha * y

            times = torch.tensor([0.0, dt], dtype=torch.float64, device=x.device)
            with _in_words(dt):
                xs, ys = odeint(
                    slope,
                    (x, y),
                    times,
                    rtol=self.rtol,
                    atol=self.atol,
                    method=self.method,
                    options=_limit(self.method),
                )
            return xs[-1], ys[-1]

        return step

    def stability(self, dt: float, alpha: float, gamma: float) -> stability.Stability:
        return stability.analyse_exact(dt, alpha, gamma)


def _refuse_random(force: Force, x: Tensor) -> None:
    """Refuses a force that is another at a second call. The random numbers go on as if nobody had asked."""
    if torch.compiler.is_compiling():
        return
    with torch.no_grad(), torch.random.fork_rng([x.device] if x.device.type == "cuda" else []):
        first, second = force(x), force(x)
    # Sums of another order differ a little, a force of NaN from itself: neither is for here.
    if x.numel() and (first - second).abs().max() > 1e-3 * first.abs().max():
        raise ValueError(
            "integrator='adaptive', but the coupling is not the same at a second call: a solver that chooses its own "
            "steps needs a force that is the same at every call; give the layer dropout=0.0, call eval(), or use "
            "integrator='strang'"
        )


def _limit(method: str) -> dict[str, int]:
    """What bounds a solver that chooses its steps; the others take no such option."""
    choosing = method in ("dopri5", "dopri8", "bosh3", "fehlberg2", "adaptive_heun")
    return {"max_num_steps": MOST_STEPS} if choosing else {}


@contextmanager
def _in_words(dt: float) -> Iterator[None]:
    """Says what to do where the solver gives up."""
    try:
        yield
    except AssertionError as error:
        raise ArithmeticError(
            f"integrator='adaptive' did not get through a step of dt={dt:g}: {error}. Take a smaller dt, larger "
            "tolerances (Adaptive(rtol=1e-3, atol=1e-6)), a bounded act such as 'tanh', or integrator='strang'"
        ) from error


def torchdiffeq(wanted: str) -> Any:
    """The library of solvers; where it is missing, says which option wanted it and how to install it."""
    try:
        import torchdiffeq
    except ImportError as error:
        raise ImportError(
            f"{wanted} needs torchdiffeq, which is not installed. Install it with: pip install 'graphcon[ode]'"
        ) from error
    return torchdiffeq
