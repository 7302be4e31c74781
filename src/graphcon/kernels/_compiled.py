"""What the compiled walk takes, made from a plan and tensors.

On a graph of two hundred nodes every operation on a tensor here costs as much as a product of matrices does in the
walk; hence arrays, and what depends on the plan alone is kept.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphcon.kernels.counter import threshold
from graphcon.kernels.plan import ACTIVATIONS, Plan
from graphcon.kernels.workspace import scratch

Arrays = tuple[np.ndarray, ...]

#: What gradients will be asked for, besides any at all (1): those of the edges, of alpha and gamma, of x and y.
NEED_EDGE, NEED_COEFFICIENTS, NEED_STATE = 2, 4, 8


def forward(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Arrays, seeds: Tensor, steps: int, plan: Plan,
    need: int, saved: Tensor, threads: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Runs the steps. What the backward pass needs goes to `saved`; what it does not has one or two places in turn."""
    from graphcon.kernels.loops import walk

    sizes = plan, x.size(0), x.size(1), len(graph[1]), steps, need
    kept, room = _kept(*sizes), _room_forward(*sizes)
    *work, val, halves = _cut(scratch(x, room.length), room)
    xs, hs, slopes, attentions, ys = (a if len(a) else b for a, b in zip(_cut(saved, kept), work, strict=True))
    fixed = attends = gates = None
    if plan.attends:
        attends = *_scores(plan, halves), attentions, val[0]
    elif plan.gated:
        gates = (plan.kind == "gated-mean",)
    else:
        fixed = True
    last_x, last_y = scratch(x, *x.shape), scratch(y, *y.shape)
    walk.forward(
        threads, graph, *_told(plan, x.dtype), seeds.numpy(), edge.numpy(), _parameters(theta, x, plan), fixed, attends,
        gates, x.numpy(), y.numpy(), (steps, xs, hs, slopes, ys), last_x.numpy(), last_y.numpy(),
    )  # fmt: skip
    return last_x, last_y


def backward(
    gx: Tensor, gy: Tensor, gtheta: Tensor, gedge: Tensor, x: Tensor, y: Tensor, theta: Tensor, edge: Tensor,
    graph: Arrays, seeds: Tensor, steps: int, plan: Plan, need: int, saved: Tensor, threads: int,
) -> None:  # fmt: skip
    """Takes the gradients of the results to those of the arguments, all in place."""
    from graphcon.kernels.loops import walk

    (nodes, channels), slots = x.shape, len(graph[1])
    room = _room_backward(plan, nodes, channels, slots)
    xs, hs, slopes, attentions, ys = _cut(saved, _kept(plan, nodes, channels, slots, steps, need))
    gh, gz, val, g, halves, gvectors, means, shares = _cut(scratch(x, room.length), room)
    fixed = attends = gates = None
    if plan.attends:
        attends = *_scores(plan, halves), attentions, val[0], g[0], gvectors
    elif plan.gated:
        gates = plan.kind == "gated-mean", means, shares
    else:
        fixed = True
    walk.backward(
        threads, graph, *_told(plan, x.dtype), seeds.numpy(), edge.numpy(), _parameters(theta, x, plan), fixed, attends,
        gates, x.numpy(), y.numpy(), (steps, xs, hs, slopes, ys), bool(need & NEED_COEFFICIENTS),
        bool(need & NEED_STATE), gx.numpy(), gy.numpy(), _parameters(gtheta, x, plan), gedge.numpy(), gh,
        *((gh, plan.skip_at) if plan.skip else (gz, 0)),
    )  # fmt: skip


class Layout(NamedTuple):
    """How matrices stand one after the other in one block of memory."""

    length: int
    places: tuple[tuple[int, int, int, int], ...]  # where each begins and ends, its rows and its columns

    @staticmethod
    def of(sizes: Sequence[tuple[int, int]]) -> "Layout":
        """Of matrices of these sizes."""
        places, start = [], 0
        for rows, columns in sizes:
            places.append((start, start + rows * columns, rows, columns))
            start += padded(rows * columns)
        return Layout(start, tuple(places))


def stacks(plan: Plan, nodes: int, channels: int, slots: int, steps: int, need: int) -> list[tuple[int, int]]:
    """How many states, products H, slopes, attentions and velocities the backward pass needs, and of what length."""
    if not need:
        steps = 0
    heads, need_h = plan.heads if plan.attends else 0, plan.attends or plan.gated or bool(need & NEED_EDGE)
    return [
        (max(steps - 1, 0), padded(nodes * channels)),
        (steps if need_h else 0, padded(nodes * plan.columns(channels))),
        (steps, padded(nodes * channels)),
        (steps if plan.attends else 0, padded(slots * heads)),
        (max(steps - 1, 0) if need & NEED_COEFFICIENTS else 0, padded(nodes * channels)),
    ]


def saved_layout(plan: Plan, nodes: int, channels: int, slots: int, steps: int, need: int) -> Layout:
    """How what the backward pass needs stands in one block. Sizes may be symbols."""
    return Layout.of(stacks(plan, nodes, channels, slots, steps, need))


_kept = lru_cache(saved_layout)  # of sizes that are numbers


@lru_cache
def _room_forward(plan: Plan, nodes: int, channels: int, slots: int, steps: int, need: int) -> Layout:
    """Room for what is not kept."""
    sizes = zip(stacks(plan, nodes, channels, slots, steps, need), (2, 1, 1, 1, 2), strict=True)
    unkept = ((0 if depth else least, length) for (depth, length), least in sizes)
    return Layout.of([*unkept, (1, _val_size(plan, slots)), _halves_size(plan, nodes)])


@lru_cache
def _room_backward(plan: Plan, nodes: int, channels: int, slots: int) -> Layout:
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


def padded(length: int) -> int:
    """A length that keeps what follows aligned, so that products of it come out the same wherever it is."""
    return (length + 15) // 16 * 16


def _cut(block: Tensor, layout: Layout) -> list[Any]:
    values = block.numpy()
    return [values[begin:end].reshape(rows, columns) for begin, end, rows, columns in layout.places]


@lru_cache
def _told(plan: Plan, dtype: torch.dtype) -> tuple[Any, ...]:
    """What both ways are told of the plan: gemm, layout, concat, numbers, drops and act."""
    from graphcon.kernels.loops._gemm import gemm

    number = np.float32 if dtype is torch.float32 else np.float64
    key = plan.key if plan.kind in ("dot", "dot-mean") else plan.width
    skip = plan.skip_at if plan.skip else -1
    scales = 1 / (1 - plan.dropout), 1 / (1 - plan.edge_dropout)
    return (
        gemm(dtype),
        (plan.heads, plan.target_at, plan.source_at, key, plan.value_at, plan.width, skip),
        plan.concat,
        tuple(map(number, (plan.dt, plan.mix, plan.leak, plan.act_leak, *scales))),
        (threshold(plan.dropout), threshold(plan.edge_dropout)),
        ACTIVATIONS[plan.act],
    )


def _parameters(theta: Tensor, x: Tensor, plan: Plan) -> tuple[Any, ...]:
    """weight, bias, alpha, gamma, shift and vector, as :meth:`Plan.split` has them."""
    values, channels, parts, end = theta.numpy(), x.size(1), [], 0
    for size in plan.sizes(channels):
        parts.append(values[end : end + size])
        end += size
    return parts[0].reshape(-1, channels), *parts[1:]


def _scores(plan: Plan, halves: Any) -> tuple[Any, ...]:
    """additive, dynamic and dot, two of them None; and whether heads are averaged."""
    mean = plan.kind == "dot-mean"
    dynamic, dot = plan.kind == "dynamic", mean or plan.kind == "dot"
    return halves if plan.kind == "additive" else None, dynamic or None, dot or None, mean


def _halves_size(plan: Plan, nodes: int) -> tuple[int, int]:
    """Room for the halves of the scores, where they are added."""
    return nodes if plan.kind == "additive" else 0, 2 * plan.heads


def _val_size(plan: Plan, slots: int) -> int:
    """How many numbers the edges have in the sum, where that is not the attention itself."""
    return slots * plan.sums if plan.kind == "dot-mean" or plan.edge_dropout > 0 else 0
