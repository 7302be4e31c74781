"""What an integrator is: a step of X'' = force(X) - gamma X - alpha X'."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from torch import Tensor

from graphcon.stability import Stability

Force = Callable[[Tensor], Tensor]
Coefficient = float | Tensor
State = tuple[Tensor, ...]


class Integrator(ABC):
    """One time-stepping scheme. A new one is a subclass in a file of its own and a line in ``INTEGRATORS``.

    The facts are class attributes; the step is :meth:`step`, made by :meth:`bind` for given dt, alpha and gamma so
    that what depends on them alone is computed once for all steps.
    """

    name: ClassVar[str]
    #: Order of convergence in dt, for a smooth force; None where the error is set by tolerances.
    order: ClassVar[int | None]
    #: Whether every step size is stable for the uncoupled oscillator.
    unconditionally_stable: ClassVar[bool]
    #: Whether a force that draws random numbers (dropout) is allowed.
    allows_random_force: ClassVar[bool] = True

    @abstractmethod
    def bind(self, dt: float, alpha: Coefficient, gamma: Coefficient) -> Callable[..., State]:
        """Returns ``step(force, x, y, *carried) -> (x, y, *carried)``.

        What is carried to the next step is valid as long as the force stays the same function.

        Args:
            dt: The time step.
            alpha: The damping, a number or one per channel.
            gamma: The squared frequency, a number or one per channel.
        """

    @abstractmethod
    def stability(self, dt: float, alpha: float, gamma: float) -> Stability:
        """What this scheme does to the uncoupled oscillator."""

    def __repr__(self) -> str:
        """The class and its options."""
        options = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({options})"
