"""How the backward pass gets the states: keep them all, or keep a few and compute the rest again.

A strategy takes a walk ``(first, last, *state) -> state`` over any of the steps, the first state and the number of
steps, and returns the last state. It knows nothing of oscillators, so each works with every integrator and every layer.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint as recompute_in_backward

State = tuple[Tensor, ...]
Walk = Callable[..., State]

# `auto` keeps what autograd keeps up to this size, and recomputes beyond it.
AUTO_BYTES = 1 << 30
# Up to this depth `checkpoint` recomputes once; beyond, twice, to keep still less.
ONE_LEVEL = 64
# What one step of a layer keeps for the backward pass, in units of the state X: measured 3 to 6 for PyG's layers.
_STATES_PER_STEP = 4


def store(walk: Walk, state: State, steps: int, buffers: Iterable[Tensor] = ()) -> State:
    """Runs all steps and lets autograd keep what it wants: fastest, memory grows with the depth."""
    return walk(0, steps, *state)


def checkpoint(walk: Walk, state: State, steps: int, buffers: Iterable[Tensor] = ()) -> State:
    r"""Keeps a few states and recomputes what lies between.

    Up to `ONE_LEVEL` steps about the square root of the depth is kept and every step is computed once more. Beyond,
    what is recomputed keeps only a few of its states in turn: about twice the cube root of the depth, for one more
    forward pass. The recomputation restores the random numbers and the autocast state, and the graph of gradients is
    the one that :func:`store` builds, so gradients are equal to the last bit.

    Args:
        walk: The steps from one to another, ``(first, last, *state) -> state``.
        state: The first state.
        steps: How many steps.
        buffers: Running statistics and the like that a step changes: the second pass sees them as the first
            did, and leaves them as they are.
    """
    if not torch.is_grad_enabled():
        return store(walk, state, steps)
    buffers = list(buffers)
    # torch.compile takes no context here, and needs none: what changes a buffer it runs once.
    aware = buffers and not torch.compiler.is_compiling()
    context: dict[str, Any] = {"context_fn": partial(_pass_and_second_pass, buffers)} if aware else {}

    def run(state: State, first: int, last: int, lengths: list[int]) -> State:
        if not lengths:
            return walk(first, last, *state)
        length, *shorter = lengths
        for start in range(first, last, length):
            segment = partial(_unpacked, run, start, min(start + length, last), shorter)
            state = recompute_in_backward(segment, *state, use_reentrant=False, **context)
        return state

    return run(state, 0, steps, segment_lengths(steps))


STRATEGIES = {"store": store, "checkpoint": checkpoint}


def choose(mode: str, steps: int, x: Tensor) -> Callable[..., State]:
    """The strategy of that name; ``auto`` stores while the activations are expected to fit into `AUTO_BYTES`."""
    if not torch.is_grad_enabled():
        return store  # nothing is kept either way
    if mode == "auto" and torch.compiler.is_exporting():
        return store  # a program is for graphs of any size: it cannot be chosen by one
    if mode == "auto":
        expected = steps * _STATES_PER_STEP * x.numel() * x.element_size()
        mode = "store" if expected <= AUTO_BYTES else "checkpoint"
    return STRATEGIES[mode]


def segment_lengths(steps: int) -> list[int]:
    """How many steps lie between two kept states, outermost first."""
    if steps <= ONE_LEVEL:
        return [math.ceil(math.sqrt(steps))]
    root = round(steps ** (1 / 3))
    return [math.ceil(steps / root), math.ceil(steps / root**2)]


def _unpacked(run: Callable[..., State], first: int, last: int, lengths: list[int], *state: Tensor) -> State:
    return run(state, first, last, lengths)


def _pass_and_second_pass(buffers: list[Tensor]):
    """The contexts of the forward pass and of its recomputation, which must see the buffers as they were."""
    before: list[Tensor] = []

    @contextmanager
    def forward() -> Iterator[None]:
        before.extend(buffer.clone() for buffer in buffers)
        yield

    @contextmanager
    def recomputation() -> Iterator[None]:
        now = [buffer.clone() for buffer in buffers]
        _write(before, buffers)
        try:
            yield
        finally:
            _write(now, buffers)

    return forward(), recomputation()


@torch.no_grad()
def _write(values: list[Tensor], buffers: list[Tensor]) -> None:
    for value, buffer in zip(values, buffers, strict=True):
        if not torch.equal(value, buffer):
            buffer.copy_(value)
