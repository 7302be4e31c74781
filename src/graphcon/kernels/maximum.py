"""The maximum over neighbours as an op."""

from typing import Any

import torch
from torch import Tensor

from graphcon.kernels import _runtime
from graphcon.kernels.op import op
from graphcon.kernels.propagate import _pairs


@op("graphcon::maximum")
def maximum(x: Tensor, ptr: Tensor, col: Tensor, tptr: Tensor, trow: Tensor) -> tuple[Tensor, Tensor]:
    """The largest ``x_j`` of every row per channel (zero without edges), and how many edges have it."""
    x = x.contiguous()
    out, ties = torch.zeros_like(x), torch.zeros_like(x)
    if _runtime.compiled(x):
        from graphcon.kernels.loops import maximum as loops

        with _runtime.threads(len(col) * x.size(1)):
            loops.maximum(ptr.numpy(), col.numpy(), x.numpy(), out.numpy(), ties.numpy())
        return out, ties
    row, col, _ = _pairs(ptr, col, col)
    out = out.scatter_reduce(0, row.unsqueeze(1).expand(-1, x.size(1)), x[col], "amax", include_self=False)
    return out, ties.index_add(0, row, (x[col] == out[row]).to(x.dtype))


@op("graphcon::maximum_backward")
def maximum_backward(
    g: Tensor, x: Tensor, out: Tensor, ties: Tensor, ptr: Tensor, col: Tensor, tptr: Tensor, trow: Tensor
) -> Tensor:
    """Shares the gradient of a maximum among all edges that have it."""
    if not _runtime.compiled(x):
        return _plain_back(g, x, out, ties, ptr, col)
    from graphcon.kernels.loops import maximum as loops

    g, x = g.contiguous(), x.contiguous()
    gx = torch.empty_like(x)
    with _runtime.threads(len(col) * x.size(1)):
        arrays = (part.numpy() for part in (tptr, trow, x, out, ties, g, gx))
        loops.maximum_back(*arrays)
    return gx


def _plain_back(g: Tensor, x: Tensor, out: Tensor, ties: Tensor, ptr: Tensor, col: Tensor) -> Tensor:
    row, col, _ = _pairs(ptr, col, col)
    no_number = out.masked_fill(~out.isnan(), 0.0)
    shared = torch.where(x[col] == out[row], (g / ties.clamp(min=1))[row], no_number[row])
    return torch.zeros_like(x).index_add(0, col, shared)


@maximum.register_fake
def _(x, *graph):
    like = torch.contiguous_format
    return torch.empty_like(x, memory_format=like), torch.empty_like(x, memory_format=like)


@maximum_backward.register_fake
def _(g, x, *others):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _setup(ctx: Any, inputs: tuple, output: tuple) -> None:
    ctx.save_for_backward(inputs[0], *output, *inputs[1:])
    ctx.mark_non_differentiable(output[1])


def _back(ctx: Any, g: Tensor, _: Any):
    x, out, ties, ptr, col, tptr, trow = ctx.saved_tensors
    if torch.is_grad_enabled():
        return _plain_back(g, x.detach(), out.detach(), ties, ptr, col), None, None, None, None
    return maximum_backward(g, x, out, ties, ptr, col, tptr, trow), None, None, None, None


maximum.register_autograd(_back, setup_context=_setup)
