"""The elementwise part of a step as an op, for couplings that the walk does not contain."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphcon.kernels import _runtime, plain
from graphcon.kernels.counter import threshold
from graphcon.kernels.op import op
from graphcon.kernels.plan import ACTIVATIONS, Plan


@op("graphcon::oscillate")
def oscillate(
    z: Tensor, x: Tensor, y: Tensor, alpha: Tensor, gamma: Tensor, seed: Tensor, act: str, act_leak: float,
    dropout: float, dt: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Activation, dropout and eq. (4) in one pass: returns the next x and y, and the derivative of the force by z.

    Args:
        z: The coupling F(X) ``[nodes, channels]``.
        x: The state.
        y: The velocity.
        alpha: The damping ``[channels]``.
        gamma: The squared frequency ``[channels]``.
        seed: Of the dropout, ``[]``.
        act: See :class:`graphcon.kernels.plan.Plan`.
        act_leak: See there.
        dropout: See there.
        dt: See there.
    """
    if not _runtime.compiled(x):
        with _runtime.autograd_inside_an_op():
            free = z.detach().requires_grad_()
            force = _force(free, seed, act, act_leak, dropout, dt)
            slope = torch.autograd.grad(force.sum(), free)[0]
        y = y + dt * (force.detach() - gamma * x - alpha * y)
        return x + dt * y, y, slope
    from graphcon.kernels.loops.aggregate import aggregate_and_step

    z, x, y = z.contiguous(), x.contiguous(), y.contiguous()
    xo, yo, slope = (torch.empty_like(x) for _ in range(3))
    state = x.numpy()
    nodes, channels, number = *state.shape, state.dtype.type
    # A graph without edges, whose linear term is z.
    ptr, none = np.zeros(nodes + 1, dtype=np.int32), np.empty(0, dtype=np.int32)
    val, bias = np.empty(0, dtype=number), np.zeros((1, channels), dtype=number)
    with _runtime.threads(state.size):
        aggregate_and_step(
            ptr, none, val, 1, number(1), z.numpy(), 0, channels, True, 0, bias, state, y.numpy(), alpha.numpy(),
            gamma.numpy(), number(dt), ACTIVATIONS[act], number(act_leak), threshold(dropout),
            number(1 / (1 - dropout)), int(seed), xo.numpy(), yo.numpy(), slope.numpy(),
        )  # fmt: skip
    return xo, yo, slope


@op("graphcon::oscillate_backward")
def oscillate_backward(
    gx: Tensor, gy: Tensor, slope: Tensor, alpha: Tensor, gamma: Tensor, dt: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of z, x and y."""
    gx, gy = (g.clone(memory_format=torch.contiguous_format) for g in (gx, gy))
    if not _runtime.compiled(gx):
        g = gy + dt * gx
        return dt * g * slope, gx - dt * gamma * g, g - dt * alpha * g
    from graphcon.kernels.loops.oscillator import step_back
    from graphcon.kernels.loops.walk import BLOCKS

    gz, number = torch.empty_like(gx), gx.numpy().dtype.type
    with _runtime.threads(gx.numel()):
        arrays = (value.numpy() for value in (gx, gy, slope, alpha, gamma))
        step_back(*arrays, number(dt), gz.numpy(), 0, BLOCKS)
    return gz, gx, gy


def _force(z: Tensor, seed: Tensor, act: str, act_leak: float, dropout: float, dt: float) -> Tensor:
    plan = Plan("fixed", 1, 0, act=act, act_leak=act_leak, dropout=dropout, dt=dt)
    return plain.activation(z, plan) * plain.force_scale(seed, z, plan)


@oscillate.register_fake
def _(z, x, y, *others):
    like = torch.contiguous_format
    return tuple(torch.empty_like(x, memory_format=like) for _ in range(3))


@oscillate_backward.register_fake
def _(gx, gy, *others):
    return tuple(torch.empty_like(gx, memory_format=torch.contiguous_format) for _ in range(3))


def _setup(ctx: Any, inputs: tuple, output: tuple) -> None:
    z, x, y, alpha, gamma, seed, *ctx.numbers = inputs
    ctx.save_for_backward(z, x, y, alpha, gamma, seed, output[2])
    ctx.mark_non_differentiable(output[2])


def _back(ctx: Any, gx: Tensor, gy: Tensor, _: Any):
    z, x, y, alpha, gamma, seed, slope = ctx.saved_tensors
    dt, wanted = ctx.numbers[-1], ctx.needs_input_grad
    g = gy + dt * gx if wanted[3] or wanted[4] or torch.is_grad_enabled() else None
    if torch.is_grad_enabled():  # the derivative must itself have one
        force = _force(z, seed, *ctx.numbers)
        gz = torch.autograd.grad(force, z, dt * g, create_graph=True)[0] if wanted[0] else None
        gx, gy = gx - dt * gamma * g, g - dt * alpha * g
    else:
        gz, gx, gy = oscillate_backward(gx, gy, slope, alpha, gamma, dt)
    galpha = -dt * (g * y).sum(0) if g is not None and wanted[3] else None
    ggamma = -dt * (g * x).sum(0) if g is not None and wanted[4] else None
    return gz, gx, gy, galpha, ggamma, None, None, None, None, None


oscillate.register_autograd(_back, setup_context=_setup)
