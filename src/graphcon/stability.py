r"""Where the uncoupled oscillator step is stable, and what the numbers mean in words.

Without coupling, one step of :math:`X'' = -\gamma X - \alpha X'` is a linear map of :math:`(X, Y)`, the same for
every node and channel. Its two eigenvalues tell everything: whether the state oscillates, decays, stays on its orbit
or blows up, before any layer is involved.
"""

import cmath
import math
from dataclasses import dataclass
from typing import Literal

from graphcon._validation import check_number

Regime = Literal["degenerate", "unstable", "overdamped", "oscillating", "conservative"]

# Products such as alpha * dt carry a rounding error of a few ulps; 0.1 * 10 must count as 1.
_TOLERANCE = 1e-9
_DRIFT = "with alpha = gamma = 0 nothing pulls the state back, and it drifts away linearly."
_DRIFT_CURE = "Take gamma > 0, or alpha > 0 to bound the drift."
_AT_REST = "without gamma nothing pulls the state back: it comes to rest where the force leaves it."


class DegenerateDynamicsWarning(UserWarning):
    """The step is a plain GNN layer: no oscillator is left."""


class UnstableDynamicsWarning(UserWarning):
    """The step lets the state grow without bound, even before any layer acts on it."""


@dataclass(frozen=True)
class Stability:
    r"""What the uncoupled step does to the state.

    Attributes:
        regime: ``degenerate`` (equal to a plain GNN), ``unstable``, ``overdamped`` (decays without oscillating, or
            with a sign that changes at every step), ``oscillating`` (decays while oscillating) or ``conservative``
            (oscillates for ever).
        max_dt: The step is stable for ``0 < dt < max_dt``; 0 where no step is, infinity where every step is.
        spectral_radius: The factor by which the state shrinks or grows in one step, in the long run.
        explanation: The regime in words.
        cure: What to change, for the degenerate and the unstable regime; empty elsewhere.
    """

    regime: Regime
    max_dt: float
    spectral_radius: float
    explanation: str
    cure: str = ""

    @property
    def stable(self) -> bool:
        """Whether the uncoupled state stays bounded for ever."""
        return self.regime != "unstable"

    def __str__(self) -> str:
        """The regime, the stable range of dt and the explanation, as one would say it."""
        if self.max_dt == 0.0:
            bound = "no dt is stable"
        elif math.isinf(self.max_dt):
            bound = "every dt is stable"
        else:
            bound = f"stable for dt < {self.max_dt:.4g}"
        return " ".join(filter(None, [f"{self.regime} ({bound}): {self.explanation}", self.cure]))


def analyse(dt: float, alpha: float, gamma: float) -> Stability:
    r"""Classifies the uncoupled step of the paper's scheme, eq. (4) with :math:`\sigma(F) = 0`.

    .. math::
        \begin{pmatrix} X_n \\ Y_n \end{pmatrix} =
        \begin{pmatrix} 1 - \gamma\Delta t^2 & \Delta t (1 - \alpha\Delta t) \\
        -\gamma\Delta t & 1 - \alpha\Delta t \end{pmatrix}
        \begin{pmatrix} X_{n-1} \\ Y_{n-1} \end{pmatrix}

    has determinant :math:`1 - \alpha\Delta t` and is stable for :math:`0 \le \alpha\Delta t < 2` and
    :math:`0 < \gamma\Delta t^2 < 4 - 2\alpha\Delta t`; at :math:`\gamma = 0` it stays bounded if and only if
    :math:`0 < \alpha\Delta t < 2`.

    Args:
        dt: The time step, positive.
        alpha: The damping, not negative.
        gamma: The squared frequency, not negative.
    """
    dt, alpha, gamma = _checked(dt, alpha, gamma)
    damping, restoring = alpha * dt, gamma * dt * dt
    determinant, trace = 1.0 - damping, 2.0 - damping - restoring
    apart = (damping - restoring) * (damping - restoring)  # a power would refuse what is too large for a number
    discriminant = apart - 4.0 * restoring * determinant  # trace² - 4 determinant, without the cancellation
    radius = math.sqrt(determinant) if discriminant < 0.0 else (abs(trace) + math.sqrt(discriminant)) / 2.0
    max_dt = _max_dt(alpha, gamma)

    if abs(damping - 1.0) < _TOLERANCE and abs(restoring - 1.0) < _TOLERANCE:
        scale = "" if abs(dt - 1.0) < _TOLERANCE else f"{dt * dt:.3g} "
        return Stability(
            "degenerate",
            max_dt,
            0.0,
            f"with alpha*dt = 1 and gamma*dt^2 = 1 the state and its velocity cancel: X_n = {scale}act(F(X_(n-1))), "
            "a plain GNN that smooths as one.",
            "Take a smaller dt (the default is dt=0.5, alpha=0.5, gamma=1.0).",
        )
    if not dt < max_dt * (1.0 - _TOLERANCE):
        if max_dt == 0.0:
            return Stability("unstable", max_dt, radius, _DRIFT, _DRIFT_CURE)
        growth = f"grows by {radius:.3g} a step" if radius > 1.005 else "does not decay"
        explanation = f"dt = {dt:g} is not below {max_dt:.4g}, and the state {growth}."
        cure = f"Take dt < {max_dt:.4g}, smaller alpha or gamma, or integrator='strang', which has no such limit."
        return Stability("unstable", max_dt, radius, explanation, cure)
    if gamma == 0.0:
        return Stability("overdamped", max_dt, radius, _AT_REST)
    if discriminant >= -_TOLERANCE * apart:
        return Stability("overdamped", max_dt, radius, _decay(radius, alternating=trace < 0.0))
    period = 2.0 * math.pi / math.atan2(math.sqrt(-discriminant), trace)
    if alpha == 0.0:
        return Stability("conservative", max_dt, 1.0, f"oscillates for ever, one turn in {period:.3g} steps.")
    return Stability("oscillating", max_dt, radius, f"one turn in {period:.3g} steps, decaying by {radius:.3g} a step.")


def coupled_growth(dt: float, alpha: float, gamma: float, eigenvalue: complex) -> float:
    r"""The factor by which a step of the paper's scheme makes a mode grow, where the force is linear in it.

    With :math:`\sigma(F(X)) = \lambda X` the state is multiplied by the larger root of

    .. math::
        z^2 - \left(2 - \alpha\Delta t - (\gamma - \lambda)\Delta t^2\right) z + 1 - \alpha\Delta t = 0.

    For small steps it does not grow if and only if :math:`\mathrm{Re}\,\lambda \le \gamma` and
    :math:`|\mathrm{Im}\,\lambda| \le \alpha\sqrt{\gamma - \mathrm{Re}\,\lambda}`: weights that are not symmetric have
    complex eigenvalues, and only damping holds these.

    Args:
        dt: The time step, positive.
        alpha: The damping, not negative.
        gamma: The squared frequency, not negative.
        eigenvalue: An eigenvalue of the force.
    """
    dt, alpha, gamma = _checked(dt, alpha, gamma)
    trace = 2.0 - alpha * dt - (gamma - eigenvalue) * dt * dt
    root = cmath.sqrt(trace * trace - 4.0 * (1.0 - alpha * dt))
    return max(abs(trace + root), abs(trace - root)) / 2.0


def _max_dt(alpha: float, gamma: float) -> float:
    """The positive root of gamma dt² + 2 alpha dt - 4, written so that gamma -> 0 loses no digits."""
    if alpha == 0.0 and gamma == 0.0:
        return 0.0
    return 4.0 / (alpha + math.sqrt(alpha * alpha + 4.0 * gamma))


def _checked(dt: float, alpha: float, gamma: float) -> tuple[float, float, float]:
    """The three as numbers that a step can have."""
    return (
        check_number("dt", dt, positive=True),
        check_number("alpha", alpha, positive=False),
        check_number("gamma", gamma, positive=False),
    )


def analyse_exact(dt: float, alpha: float, gamma: float) -> Stability:
    r"""Classifies the exact flow of :math:`X'' = -\gamma X - \alpha X'`, which `strang` and `adaptive` follow.

    No dt is too large for it; only without damping and frequency the state drifts. Never degenerate.

    Args:
        dt: The time step, positive.
        alpha: The damping, not negative.
        gamma: The squared frequency, not negative.
    """
    dt, alpha, gamma = _checked(dt, alpha, gamma)
    if alpha == 0.0 and gamma == 0.0:
        return Stability("unstable", 0.0, 1.0, _DRIFT, _DRIFT_CURE)
    if alpha == 0.0:
        turn = 2.0 * math.pi / (dt * math.sqrt(gamma))
        return Stability("conservative", math.inf, 1.0, f"oscillates for ever, one turn in {turn:.3g} steps.")
    discriminant = alpha * alpha / 4.0 - gamma
    if discriminant < 0.0:
        radius, turn = math.exp(-dt * alpha / 2.0), 2.0 * math.pi / (dt * math.sqrt(-discriminant))
        explanation = f"one turn in {turn:.3g} steps, decaying by {radius:.3g} a step."
        return Stability("oscillating", math.inf, radius, explanation)
    # -alpha/2 + sqrt(alpha²/4 - gamma), without the cancellation.
    radius = math.exp(-dt * gamma / (alpha / 2.0 + math.sqrt(discriminant)))
    return Stability("overdamped", math.inf, radius, _AT_REST if gamma == 0.0 else _decay(radius))


def _decay(radius: float, alternating: bool = False) -> str:
    """In words; a negative eigenvalue, which a step has that is too long for the pull, turns the sign every time."""
    return f"decays by {radius:.3g} a step {'and changes sign at every one' if alternating else 'without oscillating'}."
