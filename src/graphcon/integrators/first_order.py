"""Time-stepping schemes for X' = slope(X): the first-order relatives of the oscillator's."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor

from graphcon.integrators._base import State
from graphcon.integrators.adaptive import torchdiffeq

Slope = Callable[[Tensor], Tensor]


class Scheme(ABC):
    """One scheme for a first-order equation. The facts are class attributes; the step is made by :meth:`bind`."""

    name: ClassVar[str]
    #: Order of convergence in dt, for a smooth slope; None where the error is set by tolerances.
    order: ClassVar[int | None]
    #: Whether a slope that draws random numbers (dropout) is allowed.
    allows_random_slope: ClassVar[bool] = True

    @abstractmethod
    def bind(self, dt: float) -> Callable[..., State]:
        """Returns ``step(slope, x) -> (x,)`` over a time of dt."""


class Euler(Scheme):
    r"""The explicit scheme of Euler: :math:`X_n = X_{n-1} + \Delta t\, f(X_{n-1})`."""

    name = "euler"
    order = 1

    def bind(self, dt: float) -> Callable[..., State]:
        def step(slope: Slope, x: Tensor) -> State:
            return (x + dt * slope(x),)

        return step


class RK4(Scheme):
    r"""The classical scheme of Runge and Kutta, four evaluations a step.

    .. math::
        X_n = X_{n-1} + \tfrac{\Delta t}{6}(k_1 + 2 k_2 + 2 k_3 + k_4)
    """

    name = "rk4"
    order = 4

    def bind(self, dt: float) -> Callable[..., State]:
        def step(slope: Slope, x: Tensor) -> State:
            k1 = slope(x)
            k2 = slope(x + dt / 2 * k1)
            k3 = slope(x + dt / 2 * k2)
            k4 = slope(x + dt * k3)
            return (x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4),)

        return step


class Dopri5(Scheme):
    r"""The continuous-time solution of :math:`X' = f(X)` to given tolerances, by torchdiffeq's ``dopri5``.

    Args:
        rtol (float, optional): Relative tolerance. (default: :obj:`1e-6`)
        atol (float, optional): Absolute tolerance. (default: :obj:`1e-8`)
    """

    name = "dopri5"
    order = None
    allows_random_slope = False

    def __init__(self, rtol: float = 1e-6, atol: float = 1e-8):
        torchdiffeq("method='dopri5'")
        self.rtol, self.atol = rtol, atol

    def bind(self, dt: float) -> Callable[..., State]:
        odeint = torchdiffeq("method='dopri5'").odeint

        def step(slope: Slope, x: Tensor) -> State:
            times = torch.tensor([0.0, dt], dtype=torch.float64, device=x.device)
            return (odeint(lambda _, x: slope(x), x, times, rtol=self.rtol, atol=self.atol, method=self.name)[-1],)

        return step


SCHEMES: dict[str, type[Scheme]] = {cls.name: cls for cls in (Euler, RK4, Dopri5)}
