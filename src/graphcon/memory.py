"""How the backward pass gets the states: keep them all, or keep a few and compute the rest again.

A strategy takes a walk ``(first, last, *state) -> state`` over any of the steps, the first state and the number of
steps, and returns the last state. It knows nothing of oscillators, so each works with every integrator and every layer.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from operator import is_not
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import TransformType, get_interpreter_stack
from torch.nn import Module
from torch.nn.parameter import is_lazy
from torch.utils.checkpoint import checkpoint as recompute_in_backward

State = tuple[Tensor, ...]
Walk = Callable[..., State]

# `auto` keeps what autograd keeps up to this size, and recomputes beyond it.
AUTO_BYTES = 1 << 30
# Up to this depth `checkpoint` recomputes once; beyond, twice, to keep still less.
ONE_LEVEL = 64
# What one step of a layer keeps for the backward pass: measured 3 to 6 times the state X, and where it makes messages
# 1 to 5 times these.
_STATES_PER_STEP, _MESSAGES_PER_STEP = 4, 3


def store(
    walk: Walk, state: State, steps: int, module: Module | None = None, given: Mapping[str, Any] | None = None
) -> State:
    """Runs all steps and lets autograd keep what it wants: fastest, memory grows with the depth."""
    return walk(0, steps, *state)


def checkpoint(
    walk: Walk, state: State, steps: int, module: Module | None = None, given: Mapping[str, Any] | None = None
) -> State:
    r"""Keeps a few states and recomputes what lies between.

    Up to `ONE_LEVEL` steps about the square root of the depth is kept and every step is computed once more. Beyond,
    what is recomputed keeps only a few of its states in turn: about twice the cube root of the depth, for one more
    forward pass. The recomputation restores the random numbers and the autocast state, and the graph of gradients is
    the one that :func:`store` builds, so gradients are equal to the last bit.

    Args:
        walk: The steps from one to another, ``(first, last, *state) -> state``.
        state: The first state.
        steps: How many steps.
        module: Whose steps they are: the second pass sees its weights, its running statistics and whether it trains
            as the first did, and leaves them as they are.
        given: What the steps read beside the state, by name. Where a tensor of it or a weight was changed in place
            before the backward pass, that is refused, as autograd does.
    """
    if not torch.is_grad_enabled():
        return store(walk, state, steps)
    # torch.compile takes no context here, and needs none: what changes a buffer it runs once.
    first_pass = None if module is None or torch.compiler.is_compiling() else _FirstPass(module, given or {})
    context: dict[str, Any] = {} if first_pass is None else {"context_fn": first_pass.contexts}

    def run(state: State, first: int, last: int, lengths: list[int]) -> State:
        if not lengths:
            return walk(first, last, *state)
        length, *shorter = lengths
        for start in range(first, last, length):
            segment = partial(_unpacked, run, start, min(start + length, last), shorter)
            state = recompute_in_backward(segment, *state, use_reentrant=False, **context)
        return state

    state = run(state, 0, steps, segment_lengths(steps))
    if first_pass is not None:
        first_pass.end()
    return state


STRATEGIES = {"store": store, "checkpoint": checkpoint}


def choose(mode: str, steps: int, x: Tensor, messages: int = 0) -> Callable[..., State]:
    """The strategy of that name; ``auto`` stores while what autograd keeps is expected to fit into `AUTO_BYTES`.

    It expects four states a step, and three times the messages: right within a factor of three for PyG's layers. Those
    that make a matrix for every edge (NNConv) keep far more: use ``checkpoint``.

    Args:
        mode: ``store``, ``checkpoint`` or ``auto``.
        steps: How many steps.
        x: The state.
        messages: How many numbers the messages along all edges have in one step; none where kernels spare making them.
    """
    if not torch.is_grad_enabled():
        return store  # nothing is kept either way
    if mode == "auto" and torch.compiler.is_exporting():
        return store  # a program is for graphs of any size: it cannot be chosen by one
    transforms = _transforms_of_torch()
    if mode == "auto" and transforms:
        return store
    if mode == "checkpoint" and TransformType.Grad in transforms:
        raise RuntimeError(
            "memory='checkpoint' within torch.func.grad, vjp, jacrev or hessian, which cannot compute the steps again: "
            "use memory='store'"
        )
    if mode == "auto":
        expected = steps * (_STATES_PER_STEP * x.numel() + _MESSAGES_PER_STEP * messages) * x.element_size()
        mode = "store" if expected <= AUTO_BYTES else "checkpoint"
    return STRATEGIES[mode]


def _transforms_of_torch() -> list[Any]:
    """Which transforms of torch.func are at work, outermost first."""
    if torch.compiler.is_compiling():
        return []
    return [interpreter.key() for interpreter in get_interpreter_stack() or []]


def segment_lengths(steps: int) -> list[int]:
    """How many steps lie between two kept states, outermost first."""
    if steps <= ONE_LEVEL:
        return [math.ceil(math.sqrt(steps))]
    root = round(steps ** (1 / 3))
    return [math.ceil(steps / root), math.ceil(steps / root**2)]


def _unpacked(run: Callable[..., State], first: int, last: int, lengths: list[int], *state: Tensor) -> State:
    return run(state, first, last, lengths)


class _FirstPass:
    """What the steps of a module read when they were first taken."""

    def __init__(self, module: Module, given: Mapping[str, Any]):
        # torch.func.functional_call puts other weights into a module, and takes them out before the backward pass.
        self.parts = [(part, dict(part._parameters), part.training) for part in module.modules()]
        self.remembering = [part for part, *_ in self.parts if part._buffers]
        self.read = {**dict(module.named_parameters()), **given}
        self.versions: list[tuple[str, Tensor, int]] = []

    def contexts(self) -> tuple[Any, Any]:
        """The contexts of a segment that begins here, and of its recomputation."""
        return nullcontext(), _Again(self)

    def end(self) -> None:
        """Nothing that was read may be changed in place from here on; until here a layer may make its weights."""
        tracked = (
            (name, value)
            for name, value in self.read.items()
            if isinstance(value, Tensor) and not is_lazy(value) and not value.is_inference()
        )
        self.versions = [(name, value, value._version) for name, value in tracked]

    def check(self) -> None:
        """Refuses to compute again what would come out different."""
        for name, value, version in self.versions:
            if value._version != version:
                raise RuntimeError(
                    f"{name} was changed in place between the forward pass and the backward pass, but "
                    "memory='checkpoint' computes the steps again in the latter: change it after backward()"
                )


class _Again:
    """A segment's recomputation, entered whenever a backward pass asks: all is as in the first pass, for as long.

    What a module has is put aside and never written to: a second backward pass may still need it.
    """

    def __init__(self, first_pass: _FirstPass):
        self.first_pass = first_pass
        self.buffers = [_copied(part._buffers) for part in first_pass.remembering]

    def __enter__(self) -> None:
        self.first_pass.check()
        changed = [
            (part, parameters, training)
            for part, parameters, training in self.first_pass.parts
            if part.training is not training or any(map(is_not, part._parameters.values(), parameters.values()))
        ]
        parts = [*(part for part, *_ in changed), *self.first_pass.remembering]
        self.aside = [(part, part._parameters, part._buffers, part.training) for part in parts]
        for part, parameters, training in changed:
            _put(part, training, _parameters=parameters)
        for part, buffers in zip(self.first_pass.remembering, self.buffers, strict=True):
            _put(part, part.training, _buffers=_copied(buffers))

    def __exit__(self, *_: Any) -> None:
        for part, parameters, buffers, training in self.aside:
            _put(part, training, _parameters=parameters, _buffers=buffers)
        self.first_pass.end()  # what the steps themselves changed, such as a sparse matrix that is read, is no change


def _put(part: Module, training: bool, **contents: dict[str, Any]) -> None:
    part.__dict__.update(contents)
    part.training = training


def _copied(buffers: dict[str, Tensor | None]) -> dict[str, Tensor | None]:
    """Copies, but of what has no size yet: that stays the one that the first pass makes, and is copied from then on."""
    return {name: buffer if buffer is None or is_lazy(buffer) else buffer.clone() for name, buffer in buffers.items()}
