from collections.abc import Callable

import torch
from torch import Tensor

from graphcon import stability
from graphcon.integrators._base import Coefficient, Force, Integrator, State


class Strang(Integrator):
    r"""Strang splitting: half a kick, the exact flow of the damped linear oscillator, half a kick.

    .. math::
        Y &\leftarrow Y_{n-1} + \tfrac{\Delta t}{2} \sigma(F(X_{n-1})) \\
        (X_n, Y) &\leftarrow \exp\!\left(\Delta t \begin{pmatrix} 0 & 1 \\ -\gamma & -\alpha \end{pmatrix}\right)
            (X_{n-1}, Y) \\
        Y_n &\leftarrow Y + \tfrac{\Delta t}{2} \sigma(F(X_n))

    Second order for a smooth force. :math:`\gamma` and :math:`\alpha` put no limit on dt, since their part is solved
    exactly. One evaluation of the force a step where all steps share one layer (the second kick of a step is the
    first of the next), plus one at the start; two where every step has its own layer.
    """

    name = "strang"
    order = 2
    unconditionally_stable = True

    def bind(self, dt: float, alpha: Coefficient, gamma: Coefficient) -> Callable[..., State]:
        xx, xy, yx, yy = oscillator_flow(dt, alpha, gamma)

        def step(force: Force, x: Tensor, y: Tensor, kick: Tensor | None = None) -> State:
            y = y + (dt / 2) * (force(x) if kick is None else kick)
            x, y = xx * x + xy * y, yx * x + yy * y
            kick = force(x)
            return x, y + (dt / 2) * kick, kick

        return step

    def stability(self, dt: float, alpha: float, gamma: float) -> stability.Stability:
        return stability.analyse_exact(dt, alpha, gamma)


def oscillator_flow(t: float, alpha: Coefficient, gamma: Coefficient) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    r"""The four entries of :math:`\exp(t \begin{pmatrix} 0 & 1 \\ -\gamma & -\alpha \end{pmatrix})`.

    With :math:`z = (\gamma - \alpha^2/4) t^2`, :math:`c = e^{-\alpha t/2} \cos\sqrt z` and
    :math:`s = e^{-\alpha t/2} \sin\sqrt z / \sqrt z` (hyperbolic for :math:`z < 0`), they are
    :math:`c + \tfrac{\alpha t}{2} s,\; t s,\; -\gamma t s,\; c - \tfrac{\alpha t}{2} s`.

    Args:
        t: The time.
        alpha: The damping, a number or one per channel.
        gamma: The squared frequency, a number or one per channel.

    Returns:
        The entries x from x, x from y, y from x, y from y.
    """
    a, g = _as_tensor(alpha) * (t / 2), _as_tensor(gamma) * (t * t)
    c, s = _damped_cosine_and_sine(g - a * a, a)
    return c + a * s, t * s, -g / t * s, c - a * s


def _as_tensor(coefficient: Coefficient) -> Tensor:
    # A number becomes a zero-dimensional double: exact, and it does not widen the state it multiplies.
    return (
        coefficient if isinstance(coefficient, Tensor) else torch.tensor(coefficient, dtype=torch.float64, device="cpu")
    )


def _damped_cosine_and_sine(z: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    r""":math:`e^{-a} \cos\sqrt z` and :math:`e^{-a} \sin\sqrt z / \sqrt z`, smooth through z = 0, also in gradients.

    For z < 0 the exponentials are merged before they are taken: :math:`\sqrt{-z} \le a`, so nothing overflows.
    """
    # The branches not taken get a harmless argument, so that no NaN enters the gradient.
    near = z.abs() < 1e-3
    positive = z > 0
    root = torch.where(near, torch.ones_like(z), z.abs()).sqrt()
    decay = torch.exp(-a)
    wave = torch.where(positive, root, torch.ones_like(root))
    fall = torch.where(positive, torch.ones_like(root), root)
    up, down = torch.exp(torch.where(positive, -fall, fall - a)), torch.exp(-fall - a)
    cosine = torch.where(positive, decay * torch.cos(wave), (up + down) / 2)
    sine = torch.where(positive, decay * torch.sin(wave) / wave, (up - down) / (2 * fall))
    # Four terms of the Taylor series: exact to 1e-16 for |z| < 1e-3.
    z = torch.where(near, z, torch.zeros_like(z))
    cosine_near = decay * (1 - z / 2 * (1 - z / 12 * (1 - z / 30 * (1 - z / 56))))
    sine_near = decay * (1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72))))
    return torch.where(near, cosine_near, cosine), torch.where(near, sine_near, sine)
