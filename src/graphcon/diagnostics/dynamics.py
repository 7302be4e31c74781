"""What the paper says of the oscillators' motion, as functions: solutions, steady states, bounds, volumes."""

import math
from collections.abc import Callable

import torch
from torch import Tensor


def uncoupled_solution(x: Tensor, y: Tensor, t: float, gamma: float = 1.0) -> Tensor:
    r"""The free oscillation, eq. (10) for any frequency: without force and damping every node is alone.

    .. math::
        X(t) = X(0) \cos(\omega t) + \frac{Y(0)}{\omega} \sin(\omega t), \qquad \omega = \sqrt\gamma

    Args:
        x (torch.Tensor): Positions at time 0.
        y (torch.Tensor): Velocities at time 0.
        t (float): The time.
        gamma (float, optional): The squared frequency, positive. (default: :obj:`1.0`)
    """
    omega = math.sqrt(gamma)
    return x * math.cos(omega * t) + y * (math.sin(omega * t) / omega)


def steady_state(
    force: Callable[[Tensor], Tensor], x: Tensor, gamma: float = 1.0, iterations: int = 1000, tolerance: float = 1e-6
) -> Tensor:
    r"""A steady state by fixed-point iteration from x: :math:`X^* = \sigma(F(X^*)) / \gamma`, with :math:`Y^* = 0`.

    The paper's eq. (6) prints a factor :math:`\Delta t` that cancels.

    Args:
        force (Callable): :math:`\sigma \circ F`.
        x (torch.Tensor): Where to start.
        gamma (float, optional): The squared frequency, positive. (default: :obj:`1.0`)
        iterations (int, optional): How many iterations at the most. (default: :obj:`1000`)
        tolerance (float, optional): The change at which to stop. (default: :obj:`1e-6`)

    Raises:
        ArithmeticError: If the iteration does not settle.
    """
    change = math.inf
    for _ in range(iterations):
        before, x = x, force(x) / gamma
        change = float((x - before).abs().max())
        if change <= tolerance:
            return x
    raise ArithmeticError(
        f"no steady state found: after {iterations} iterations X still changes by {change:.3g}. "
        "The iteration contracts only where the force varies less than gamma times its argument."
    )


def state_bound(x: Tensor, y: Tensor, steps: int, dt: float, alpha: float, gamma: float, beta: float) -> Tensor:
    r"""The bound of Proposition b2 (appendix) on :math:`\|X^n_i\|^2` for an activation with :math:`|\sigma| \le \beta`.

    .. math::
        \|X^n_i\|^2 \le \|X^0_i\|^2 + \frac{1}{\gamma} \|Y^0_i\|^2
        + \frac{m \beta^2 n \Delta t}{\gamma(\alpha - \gamma\Delta t)}

    The paper prints half of the last term; its proof gives this.

    Args:
        x (torch.Tensor): Positions at the start, ``[nodes, channels]``.
        y (torch.Tensor): Velocities at the start, ``[nodes, channels]``.
        steps (int): The number n of steps.
        dt (float): The time step, below :math:`\min(\alpha/\gamma, 1/\alpha)`.
        alpha (float): The damping.
        gamma (float): The squared frequency.
        beta (float): The bound on the activation, 1 for tanh.

    Returns:
        The bound per node, ``[nodes]``.
    """
    if alpha <= 0 or gamma <= 0 or not dt < min(alpha / gamma, 1 / alpha):
        raise ValueError(
            f"dt={dt}, alpha={alpha}, gamma={gamma}: the bound holds for positive alpha and gamma and "
            "dt < min(alpha / gamma, 1 / alpha)"
        )
    forced = x.size(-1) * beta**2 * steps * dt / (gamma * (alpha - gamma * dt))
    return x.square().sum(-1) + y.square().sum(-1) / gamma + forced


def volume_factor(nodes: int, channels: int, dt: float, alpha: float) -> float:
    r"""The determinant of one `imex` step as a map of (X, Y), whatever F is: :math:`(1 - \alpha\Delta t)^{v m}`.

    Args:
        nodes (int): The number v of nodes.
        channels (int): The number m of channels.
        dt (float): The time step.
        alpha (float): The damping.
    """
    return (1.0 - alpha * dt) ** (nodes * channels)


def heavy_ball(
    force: Callable[[Tensor], Tensor], x: Tensor, y: Tensor, steps: int, dt: float, alpha: float, gamma: float
) -> Tensor:
    r"""The positions of the `imex` scheme with the velocity eliminated: gradient descent with momentum.

    .. math::
        X_n = X_{n-1} + (1-\alpha\Delta t)(X_{n-1} - X_{n-2}) + \Delta t^2 (\sigma(F(X_{n-1})) - \gamma X_{n-1})

    with :math:`X_{-1} = X_0 - \Delta t\,Y_0`. At :math:`\Delta t = \alpha = \gamma = 1` the right side is
    :math:`\sigma(F(X_{n-1}))`: a plain GNN.

    Args:
        force (Callable): :math:`\sigma \circ F`.
        x (torch.Tensor): Positions at the start.
        y (torch.Tensor): Velocities at the start.
        steps (int): The number of steps.
        dt (float): The time step.
        alpha (float): The damping.
        gamma (float): The squared frequency.

    Returns:
        All positions, ``[steps + 1, nodes, channels]``.
    """
    xs = [x - dt * y, x]
    for _ in range(steps):
        momentum = (1.0 - alpha * dt) * (xs[-1] - xs[-2])
        xs.append(xs[-1] + momentum + dt * dt * (force(xs[-1]) - gamma * xs[-1]))
    return torch.stack(xs[1:])
