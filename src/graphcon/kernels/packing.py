"""The parameters of a walk as the one vector in which they travel, and their gradients from its.

A layer keeps its parameters in several tensors. One after the other they are theta, as :meth:`Plan.split` has it, but
for two things that are linear, too: GAT's vectors become rows of the weight, and what a query is divided by goes into
the map that makes it.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor

from graphcon.kernels.plan import Plan, padded

Parts = Sequence[Tensor]


def pack(plan: Plan, channels: int, parts: Parts, layers: int = 1) -> Tensor:
    """Theta in plain torch.

    Args:
        plan: What is computed.
        channels: The width of the state.
        parts: The blocks of the weight; then bias, alpha, gamma, and the blocks of shift and vector where there are
            such. With GAT the vectors of sources and targets come after the first block. So for every layer.
        layers: How many layers.
    """
    if layers > 1:
        rows = [pack(plan, channels, one) for one in _by_layer(parts, layers)]
        return torch.cat([functional.pad(row, (0, padded(len(row)) - len(row))) for row in rows])
    if plan.kind == "additive":
        weight, source, target, *rest = parts
        blocks = weight.view(plan.heads, plan.width, channels)
        halves = ((vector.view(plan.heads, plan.width, 1) * blocks).sum(1) for vector in (source, target))
        parts = weight, *halves, *rest
    theta = torch.cat([part.reshape(-1) for part in parts])
    if plan.queries:
        scale = torch.ones_like(theta)
        _divide_queries(plan, channels, scale)
        theta = theta * scale
    return theta


def packed(plan: Plan, channels: int, parts: Parts, layers: int = 1) -> Tensor:
    """The same by loops and in place, without gradients."""
    if layers > 1:
        rows = [packed(plan, channels, one) for one in _by_layer(parts, layers)]
        gap = rows[0].new_zeros(padded(len(rows[0])) - len(rows[0]))
        return torch.cat([part for row in rows for part in (row, gap)])
    if plan.kind == "additive":
        from graphcon.kernels.loops import halves

        weight, source, target, *rest = parts
        rows = weight.new_empty(2 * plan.heads, channels)
        halves.stack(_array(weight), _array(source), _array(target), rows.numpy())
        parts = weight, rows, *rest
    theta = torch.cat([part.reshape(-1) for part in parts])
    _divide_queries(plan, channels, theta)
    return theta


def unpacked(
    plan: Plan, channels: int, parts: Parts, gtheta: Tensor, wanted: Sequence[bool], layers: int = 1
) -> list[Tensor | None]:
    """The gradients of the parts from that of theta, which is written to."""
    if layers > 1:
        rows = gtheta.split(len(gtheta) // layers)
        each = zip(_by_layer(parts, layers), rows, _by_layer(wanted, layers), strict=True)
        return [g for one, row, want in each for g in unpacked(plan, channels, one, row, want)]
    sizes = [part.numel() for part in parts]
    if plan.kind == "additive":
        sizes = [sizes[0], 2 * plan.heads * channels, *sizes[3:]]
    gtheta = gtheta[: sum(sizes)]
    _divide_queries(plan, channels, gtheta)
    gradients = torch.split_with_sizes(gtheta, sizes)
    if plan.kind == "additive":
        from graphcon.kernels.loops import halves

        weight, source, target = parts[:3]
        gweight, _, *others = gradients
        gsource, gtarget = (torch.empty_like(v, memory_format=torch.contiguous_format) for v in (source, target))
        g = gtheta[: sizes[0] + sizes[1]].numpy().reshape(-1, channels)
        halves.stack_back(
            _array(weight), _array(source), _array(target), g[-2 * plan.heads :], g, _array(gsource), _array(gtarget)
        )
        gradients = gweight, gsource, gtarget, *others
    return [g.view_as(p) if want else None for g, p, want in zip(gradients, parts, wanted, strict=True)]


class Packed(torch.autograd.Function):
    """:func:`packed`, with gradients: for a walk that is cut, all parts of which share one theta."""

    @staticmethod
    def forward(ctx: Any, plan: Plan, channels: int, *parts: Tensor) -> Tensor:  # pyright: ignore  # autograd Functions take any arguments
        ctx.save_for_backward(*parts)
        ctx.plan, ctx.channels = plan, channels
        return packed(plan, channels, parts)

    @staticmethod
    def backward(ctx: Any, gtheta: Tensor):  # pyright: ignore  # as above
        parts, wanted = ctx.saved_tensors, ctx.needs_input_grad[2:]
        if torch.is_grad_enabled():
            return None, None, *back_in_torch(ctx.plan, ctx.channels, parts, gtheta, wanted)
        return None, None, *unpacked(ctx.plan, ctx.channels, parts, gtheta.clone(), wanted)


def back_in_torch(
    plan: Plan, channels: int, parts: Parts, gtheta: Tensor, wanted: Sequence[bool], layers: int = 1
) -> list[Tensor | None]:
    """:func:`unpacked` where gradients are to have gradients in turn."""
    if not any(wanted):
        return [None] * len(parts)
    parts = [part.view_as(part) for part in parts]  # one may stand in two places
    asked = [part for part, want in zip(parts, wanted, strict=True) if want]
    found = iter(torch.autograd.grad(pack(plan, channels, parts, layers), asked, gtheta, create_graph=True))
    return [next(found) if want else None for want in wanted]


def _divide_queries(plan: Plan, channels: int, theta: Tensor) -> None:
    """Divides the map that makes queries, and what it adds, by the root of their length, in place."""
    if not plan.queries:
        return
    scale, queries = 1.0 / math.sqrt(plan.key), plan.heads * plan.key
    theta[: queries * channels].mul_(scale)
    if plan.shift:
        shift = len(theta) - plan.columns(channels)  # dot products have no vector: it is the last
        theta[shift : shift + queries].mul_(scale)


def _by_layer(values: Sequence[Any], layers: int) -> list[Sequence[Any]]:
    """Values of all layers, as those of each."""
    length = len(values) // layers
    return [values[start : start + length] for start in range(0, len(values), length)]


def _array(value: Tensor) -> Any:
    values = value.contiguous().numpy()  # without gradients, as all here
    return values if values.ndim == 2 else values.reshape(-1)
