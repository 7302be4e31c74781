"""What the compiled walk takes, made from a plan and tensors.

On a graph of two hundred nodes every operation on a tensor here costs as much as a product of matrices does in the
walk; hence what depends on the plan and on sizes alone is kept, and blocks of memory are cut where they are used.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphcon.kernels.counter import threshold
from graphcon.kernels.plan import ACTIVATIONS, Plan, padded
from graphcon.kernels.workspace import scratch

Arrays = tuple[np.ndarray, ...]

#: What gradients will be asked for, besides any at all (1): those of the edges, of alpha and gamma, of x and y.
NEED_EDGE, NEED_COEFFICIENTS, NEED_STATE = 2, 4, 8


class Layout(NamedTuple):
    """How matrices stand one after the other in one block of memory."""

    length: int
    places: tuple[tuple[int, int, int], ...]  # where each begins, its rows and its columns

    @staticmethod
    def of(sizes: Sequence[tuple[int, int]]) -> "Layout":
        """Of matrices of these sizes."""
        places, start = [], 0
        for rows, columns in sizes:
            places.append((start, rows, columns))
            start += padded(rows * columns)
        return Layout(start, tuple(places))


class Setting(NamedTuple):
    """What depends on the plan and on sizes alone."""

    told: tuple[Any, ...]  # gemm, layout, concat, numbers, drops, act, bare, kinds and ends, as the loops take them
    kept: Layout  # what the backward pass needs
    forward: Layout  # room for what is not kept
    backward: Layout  # room for what the backward pass makes
    work: int  # multiplications of one step, about


@lru_cache
def setting(plan: Plan, nodes: int, channels: int, slots: int, steps: int, need: int, dtype: torch.dtype) -> Setting:
    """For a walk of these sizes."""
    ends = [*accumulate(plan.sizes(nodes, channels))]
    told = *_told(plan, dtype), (*ends, padded(ends[-1]))
    kept = saved_layout(plan, nodes, channels, slots, steps, need)
    room = _room_forward(plan, nodes, channels, slots, steps, need), _room_backward(plan, nodes, channels, slots)
    return Setting(told, kept, *room, nodes * channels + slots * plan.sums * plan.width)


def forward(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Arrays, seeds: Tensor, steps: int, sizes: Setting,
    saved: Tensor, threads: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Runs the steps. What the backward pass needs goes to `saved`; what it does not has one or two places in turn."""
    from graphcon.kernels.loops import walk

    work = scratch(x, sizes.forward.length)
    last_x, last_y = scratch(x, *x.shape), scratch(y, *y.shape)
    walk.forward(
        threads, graph, *sizes.told, seeds.numpy(), edge.numpy(), theta.numpy(), x.numpy(), y.numpy(), steps,
        saved.numpy(), sizes.kept.places, work.numpy(), sizes.forward.places, last_x.numpy(), last_y.numpy(),
    )  # fmt: skip
    return last_x, last_y


def backward(
    gx: Tensor, gy: Tensor, gtheta: Tensor, gedge: Tensor, x: Tensor, y: Tensor, theta: Tensor, edge: Tensor,
    graph: Arrays, seeds: Tensor, steps: int, sizes: Setting, need: int, saved: Tensor, threads: int,
) -> None:  # fmt: skip
    """Takes the gradients of the results to those of the arguments, all in place."""
    from graphcon.kernels.loops import walk

    work = scratch(x, sizes.backward.length)
    walk.backward(
        threads, graph, *sizes.told, seeds.numpy(), edge.numpy(), theta.numpy(), x.numpy(), y.numpy(), steps,
        saved.numpy(), sizes.kept.places, work.numpy(), sizes.backward.places, bool(need & NEED_COEFFICIENTS),
        bool(need & NEED_STATE), gx.numpy(), gy.numpy(), gtheta.numpy(), gedge.numpy(),
    )  # fmt: skip


def saved_layout(plan: Plan, nodes: int, channels: int, slots: int, steps: int, need: int) -> Layout:
    """How what the backward pass needs stands in one block. Sizes may be symbols."""
    return Layout.of(_stacks(plan, nodes, channels, slots, steps, need))


def _stacks(plan: Plan, nodes: int, channels: int, slots: int, steps: int, need: int) -> list[tuple[int, int]]:
    """How many states, products H, slopes, attentions and velocities the backward pass needs, and of what length."""
    if not need:
        steps = 0
    heads, need_h = plan.heads if plan.attends else 0, plan.attends or plan.gated or bool(need & NEED_EDGE)
    need_h = need_h and not plan.bare  # it is the state
    return [
        (max(steps - 1, 0), padded(nodes * channels)),
        (steps if need_h else 0, padded(nodes * plan.columns(channels))),
        (steps, padded(nodes * channels)),
        (steps if plan.attends else 0, padded(slots * heads)),
        (max(steps - 1, 0) if need & NEED_COEFFICIENTS else 0, padded(nodes * channels)),
    ]


def _room_forward(plan: Plan, nodes: int, channels: int, slots: int, steps: int, need: int) -> Layout:
    """Stacks of what is not kept, the weights of the edges in the sum, and the halves of the scores."""
    sizes = zip(_stacks(plan, nodes, channels, slots, steps, need), (2, 1, 1, 1, 2), strict=True)
    unkept = ((0 if depth else least, length) for (depth, length), least in sizes)
    return Layout.of([*unkept, (1, _val_size(plan, slots)), _halves_size(plan, nodes)])


def _room_backward(plan: Plan, nodes: int, channels: int, slots: int) -> Layout:
    """As the loops name them."""
    return Layout.of(
        [
            (nodes, plan.columns(channels)),
            (0 if plan.skip else nodes, channels),
            (1, _val_size(plan, slots)),
            (1, slots * plan.heads if plan.attends else 0),
            _halves_size(plan, nodes),
            (nodes if plan.kind == "dynamic" else 0, plan.heads * plan.width),
            (nodes if plan.gated else 0, plan.width),
            (nodes if plan.gated else 0, plan.width),
        ]
    )


def _told(plan: Plan, dtype: torch.dtype) -> tuple[Any, ...]:
    """gemm, layout, concat, numbers, drops, act, bare and kinds."""
    from graphcon.kernels.loops._gemm import gemm

    number = np.float32 if dtype is torch.float32 else np.float64
    key = plan.key if plan.queries else plan.width
    skip = plan.skip_at if plan.skip else -1
    scales = 1 / (1 - plan.dropout), 1 / (1 - plan.edge_dropout)
    return (
        gemm(dtype),
        (plan.heads, plan.target_at, plan.source_at, key, plan.value_at, plan.width, skip),
        plan.concat,
        tuple(map(number, (plan.dt, plan.mix, plan.leak, plan.act_leak, *scales))),
        (threshold(plan.dropout), threshold(plan.edge_dropout)),
        ACTIVATIONS[plan.act],
        plan.bare,
        *_kinds(plan),
    )


def _kinds(plan: Plan) -> tuple[Any, ...]:
    """fixed, attends and gates, two of them None."""
    if plan.attends:
        scores = plan.kind == "additive" or None, plan.kind == "dynamic" or None, plan.queries or None
        return None, (*scores, plan.kind == "dot-mean"), None
    return (None, None, (plan.kind == "gated-mean",)) if plan.gated else (True, None, None)


def _halves_size(plan: Plan, nodes: int) -> tuple[int, int]:
    """Room for the halves of the scores, where they are added."""
    return nodes if plan.kind == "additive" else 0, 2 * plan.heads


def _val_size(plan: Plan, slots: int) -> int:
    """How many numbers the edges have in the sum, where that is not the attention itself."""
    return slots * plan.sums if plan.kind == "dot-mean" or plan.edge_dropout > 0 else 0
