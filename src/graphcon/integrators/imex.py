from collections.abc import Callable

from torch import Tensor

from graphcon import stability
from graphcon.integrators._base import Coefficient, Force, Integrator, State


class IMEX(Integrator):
    r"""The paper's scheme, eq. (4): symplectic Euler with damping.

    .. math::
        Y_n &= Y_{n-1} + \Delta t\,[\sigma(F(X_{n-1})) - \gamma X_{n-1} - \alpha Y_{n-1}] \\
        X_n &= X_{n-1} + \Delta t\, Y_n

    First order, one evaluation of the force a step. Stable without coupling for :math:`0 \le \alpha\Delta t < 2` and
    :math:`0 < \gamma\Delta t^2 < 4 - 2\alpha\Delta t`. Changes volumes by :math:`(1-\alpha\Delta t)` per node and
    channel, whatever F is.
    """

    name = "imex"
    order = 1
    unconditionally_stable = False

    def bind(self, dt: float, alpha: Coefficient, gamma: Coefficient) -> Callable[..., State]:
        def step(force: Force, x: Tensor, y: Tensor) -> State:
            y = y + dt * (force(x) - gamma * x - alpha * y)
            return x + dt * y, y

        return step

    def stability(self, dt: float, alpha: float, gamma: float) -> stability.Stability:
        return stability.analyse(dt, alpha, gamma)
