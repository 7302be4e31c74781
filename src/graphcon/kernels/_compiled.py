"""What the compiled walk takes, made from a plan and tensors.

On a graph of two hundred nodes every operation on a tensor here costs as much as a product of matrices does in the
walk; hence arrays, and what depends on the plan alone is kept.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphcon.kernels.counter import threshold
from graphcon.kernels.plan import ACTIVATIONS, Plan
from graphcon.kernels.workspace import scratch

def forward(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan,
    saved: Sequence[Tensor],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Runs the steps. What is saved goes into the stacks given: states, H, slopes, attention, velocities.

    A stack of length zero is not wanted; one or two places are then used for all steps.
    """
    from graphcon.kernels.loops import walk

    xs, hs, slopes, attentions, ys = (
        stack if stack.size(0) else scratch(x, depth, stack.size(1))
        for stack, depth in zip(saved, (2, 1, 1, 1, 2), strict=True)
    )
    fixed = attends = gates = None
    if plan.attends:
        attends = *_scores(plan), attentions.numpy(), _dropped_attention(x, plan, graph)
    elif plan.gated:
        gates = (plan.kind == "gated-mean",)
    else:
        fixed = True
    last_x, last_y = torch.empty_like(x), torch.empty_like(y)
    walk.forward(
        tuple(part.numpy() for part in graph), *_told(plan, x.dtype), seeds.numpy(), edge.numpy(),
        _parameters(theta, x, plan), fixed, attends, gates, x.numpy(), y.numpy(),
        (steps, xs.numpy(), hs.numpy(), slopes.numpy(), ys.numpy()), last_x.numpy(), last_y.numpy(),
    )  # fmt: skip
    return last_x, last_y


def backward(
    gx: Tensor, gy: Tensor, gtheta: Tensor, gedge: Tensor, x: Tensor, y: Tensor, theta: Tensor, edge: Tensor,
    graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan, saved: Sequence[Tensor], need_coefficients: bool,
    need_state: bool,
) -> None:  # fmt: skip
    """Takes the gradients of the results to those of the arguments, all in place."""
    from graphcon.kernels.loops import walk

    xs, hs, slopes, attentions, ys = (stack.numpy() for stack in saved)
    nodes, slots = len(x), graph[1].size(0)
    fixed = attends = gates = None
    if plan.attends:
        vectors = (nodes, plan.heads * plan.width) if plan.kind == "dynamic" else (0, 0)
        attends = (
            *_scores(plan), attentions, _dropped_attention(x, plan, graph),
            scratch(x, slots * plan.heads).numpy(), scratch(x, *vectors).numpy(),
        )  # fmt: skip
    elif plan.gated:
        top, bottom = (scratch(x, nodes, plan.width).numpy() for _ in range(2))
        gates = plan.kind == "gated-mean", top, bottom
    else:
        fixed = True
    gh = scratch(x, nodes, plan.columns(x.size(1))).numpy()
    gz, at = (gh, plan.skip_at) if plan.skip else (scratch(x, nodes, x.size(1)).numpy(), 0)
    walk.backward(
        tuple(part.numpy() for part in graph), *_told(plan, x.dtype), seeds.numpy(), edge.numpy(),
        _parameters(theta, x, plan), fixed, attends, gates, x.numpy(), y.numpy(), (steps, xs, hs, slopes, ys),
        need_coefficients, need_state, gx.numpy(), gy.numpy(), _parameters(gtheta, x, plan), gedge.numpy(), gh, gz, at,
    )  # fmt: skip


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


def _scores(plan: Plan) -> tuple[Any, ...]:
    """additive, dynamic and dot, one of them True and the others None; and whether heads are averaged."""
    mean = plan.kind == "dot-mean"
    additive, dynamic, dot = plan.kind == "additive", plan.kind == "dynamic", mean or plan.kind == "dot"
    return additive or None, dynamic or None, dot or None, mean


def _dropped_attention(x: Tensor, plan: Plan, graph: Sequence[Tensor]) -> Any:
    """Room for what every edge has in the sum, where that is not the attention itself."""
    differs = plan.kind == "dot-mean" or plan.edge_dropout > 0
    return scratch(x, graph[1].size(0) * plan.sums if differs else 0).numpy()


def padded(rows: int, columns: int) -> int:
    """A length that keeps every state in a stack aligned, so that products of it come out the same wherever it is."""
    return (rows * columns + 15) // 16 * 16
