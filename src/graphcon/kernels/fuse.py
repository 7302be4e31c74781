"""From bound layers to a whole walk."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from graphcon.kernels.coupling import Coupling, Oscillation, walk_layers, walk_shared, walk_steps
from graphcon.kernels.dispatch import untouched

Walk = Callable[..., tuple[Tensor, ...]]

_FUNCTIONS: dict[Any, tuple[str, float]] = {
    torch.relu: ("relu", 0.0),
    functional.relu: ("relu", 0.0),
    torch.tanh: ("tanh", 0.0),
    torch.sigmoid: ("sigmoid", 0.0),
    functional.silu: ("silu", 0.0),
}
_MODULES: dict[type[nn.Module], str] = {
    nn.ReLU: "relu",
    nn.Tanh: "tanh",
    nn.Sigmoid: "sigmoid",
    nn.SiLU: "silu",
    nn.Identity: "identity",
}


def fuse(
    couplings: Sequence[Callable[[Tensor], Tensor]],
    x: Tensor,
    steps: int,
    *,
    act: Callable[[Tensor], Tensor],
    dropout: float,
    dt: float,
    alpha: float | Tensor,
    gamma: float | Tensor,
    source: Tensor | None = None,
) -> Walk | None:
    """A walk ``(first, last, x, y, *carried) -> state`` of eq. (4), with its elementwise part fused, or None.

    Args:
        couplings: What :func:`bind` made of the layer that all steps share, or of every step's layer.
        x: A state the walk will be called with.
        steps: The number of steps.
        act: The activation.
        dropout: Dropout on the force.
        dt: The time step.
        alpha: The damping.
        gamma: The squared frequency.
        source: What is added to all of them, ``[nodes, channels]``.
    """
    known = _code(act)
    if known is None:
        return None
    oscillation = Oscillation(*known, dropout, dt, alpha, gamma)
    if not oscillation.fits(x) or (source is not None and source.shape != x.shape):
        return None
    if source is not None:
        couplings = [_plus(coupling, source) for coupling in couplings]
    layers = [coupling for coupling in couplings if isinstance(coupling, Coupling)]
    if len(layers) == len(couplings) == 1:
        return walk_shared(layers[0], oscillation, x, steps)
    if len(layers) == len(couplings) and all(map(layers[0].like, layers[1:])):
        return walk_layers(layers, oscillation, x)
    return walk_steps(list(couplings), oscillation, x, steps)


def _plus(coupling: Callable[[Tensor], Tensor], source: Tensor) -> Callable[[Tensor], Tensor]:
    if isinstance(coupling, Coupling):
        return coupling.plus_source(source)
    return lambda x: coupling(x) + source


def _code(act: Callable[[Tensor], Tensor]) -> tuple[str, float] | None:
    """The name and the parameter of an activation the kernels know."""
    if isinstance(act, nn.Module):
        if not untouched(act):
            return None
        if type(act) is nn.LeakyReLU:
            return "relu", act.negative_slope
        if type(act) is nn.ELU:
            return "elu", act.alpha
        if type(act) is nn.GELU:
            return ("gelu", 0.0) if act.approximate == "none" else None
        name = _MODULES.get(type(act))
        return None if name is None else (name, 0.0)
    return _FUNCTIONS.get(act) if isinstance(act, Hashable) else None
