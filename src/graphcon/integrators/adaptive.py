from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graphcon import stability
from graphcon.integrators._base import Coefficient, Force, Integrator, State


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
            def slope(_: Tensor, state: State) -> State:
                x, y = state
                return y, force(x) - gamma * x - alpha * y

            times = torch.tensor([0.0, dt], dtype=torch.float64, device=x.device)
            xs, ys = odeint(slope, (x, y), times, rtol=self.rtol, atol=self.atol, method=self.method)
            return xs[-1], ys[-1]

        return step

    def stability(self, dt: float, alpha: float, gamma: float) -> stability.Stability:
        return stability.analyse_exact(dt, alpha, gamma)


def torchdiffeq(wanted: str) -> Any:
    """The library of solvers; where it is missing, says which option wanted it and how to install it."""
    try:
        import torchdiffeq
    except ImportError as error:
        raise ImportError(
            f"{wanted} needs torchdiffeq, which is not installed. Install it with: pip install 'graphcon[ode]'"
        ) from error
    return torchdiffeq
