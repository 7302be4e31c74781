"""Finds the step at which a state became NaN or infinite, on request and at no cost otherwise."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor

from graphcon.stability import Stability

State = tuple[Tensor, ...]


class Network(Protocol):
    """What the message tells of the network in which a state diverged."""

    steps: int

    @property
    def stability(self) -> Stability | str: ...


class DivergenceError(ArithmeticError):
    """The state became NaN or infinite.

    Attributes:
        step: The step at which it began; 0 where the input had it already.
    """

    def __init__(self, message: str, step: int):
        super().__init__(message)
        self.step = step

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.step)  # by itself an exception travels between processes without the step


_watching = False


@contextmanager
def detect_divergence() -> Iterator[None]:
    """Within this context every `GraphCON` looks at its state after every step and raises `DivergenceError`.

    So does every rival that is a differential equation.

    It costs a pass over the state per step; outside the context nothing is looked at.

    Example::

        with graphcon.detect_divergence():
            loss = model(x, edge_index).sum()
    """
    global _watching
    before, _watching = _watching, True
    try:
        yield
    finally:
        _watching = before


def watched(walk: Callable[..., State], network: Network) -> Callable[..., State]:
    """Returns the walk as it is, or within :func:`detect_divergence` one that looks at the state after every step.

    Args:
        walk: Steps, ``(first, last, *state) -> state``.
        network: Whose steps they are.
    """
    if not _watching:
        return walk

    def looking(first: int, last: int, *state: Tensor) -> State:
        for n in range(first, last):
            if n == 0:
                _look(0, state, network)
            state = walk(n, n + 1, *state)
            _look(n + 1, state, network)
        return state

    return looking


def _look(n: int, state: State, network: Network) -> None:
    for name, value in zip(("X", "Y"), state, strict=False):
        bad = ~torch.isfinite(value)
        if not bool(bad.any()):
            continue
        where = bad.nonzero()[0].tolist()
        what = "NaN" if bool(value[tuple(where)].isnan()) else "infinite"
        share = f"{int(bad.sum())} of {bad.numel()} entries, the first at node {where[-2]}, channel {where[-1]}"
        if n == 0:
            raise DivergenceError(f"the state {name} is {what} before the first step ({share}): check the input", 0)
        raise DivergenceError(
            f"the state {name} became {what} at step {n} of {network.steps} ({share}). "
            f"Without the coupling the step is {network.stability} "
            "Smaller dt, more damping alpha, a bounded act such as 'tanh' or gradient clipping tame it.",
            n,
        )
