"""Sums over neighbours as an op of its own, for layers that do more with them than the walk knows."""

from typing import Any

import torch
from torch import Tensor

from graphcon.kernels import _runtime
from graphcon.kernels.op import op
from graphcon.kernels.structure import Graph


@op("graphcon::propagate")
def propagate(
    x: Tensor, edge: Tensor, ptr: Tensor, col: Tensor, slot: Tensor, tptr: Tensor, trow: Tensor, tslot: Tensor
) -> Tensor:
    """The sum of ``edge * x_j`` over the edges of every row, ``[nodes, channels]``.

    Rows come with the slots of their edges in both directions, so that the gradient is the same op the other way round.

    Args:
        x: The values ``[nodes, channels]``.
        edge: A number per slot, ``[slots, 1]``.
        ptr: Where rows begin.
        col: The other end of an edge.
        slot: Its slot.
        tptr: The same by the other end.
        trow: See there.
        tslot: See there.
    """
    if not _runtime.compiled(x):
        row, col, number = _pairs(ptr, col, slot)
        return torch.zeros_like(x).index_add(0, row, edge[number] * x[col])
    from graphcon.kernels.loops.aggregate import gather

    x, edge, out = x.contiguous(), edge.contiguous(), torch.empty_like(x, memory_format=torch.contiguous_format)
    with _runtime.threads(len(col) * x.size(1)):
        one, arrays = x.numpy().dtype.type(1), (part.numpy() for part in (ptr, col, slot))
        gather(*arrays, edge.view(-1).numpy(), 1, one, x.numpy(), 0, x.size(1), True, out.numpy(), 0)
    return out


@op("graphcon::edge_products")
def edge_products(
    g: Tensor, x: Tensor, ptr: Tensor, col: Tensor, slot: Tensor, tptr: Tensor, trow: Tensor, tslot: Tensor
) -> Tensor:
    """The scalar products of ``g_i`` and ``x_j`` over all edges, ``[slots, 1]``."""
    row, other, number = _pairs(ptr, col, slot)
    if not _runtime.compiled(x):
        products = (g[row] * x[other]).sum(1, keepdim=True)
    else:
        from graphcon.kernels.loops.aggregate import add_edge_products

        g, x, products = g.contiguous(), x.contiguous(), x.new_zeros(len(slot), 1)
        with _runtime.threads(len(col) * x.size(1)):
            one, width = x.numpy().dtype.type(1), x.size(1)
            arrays = ptr.numpy(), col.numpy(), g.numpy(), 0, x.numpy(), 0
            add_edge_products(*arrays, 1, width, True, one, products.view(-1).numpy())
    return x.new_zeros(len(slot), 1).index_copy(0, number, products[: len(number)])


def _pairs(ptr: Tensor, col: Tensor, slot: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    row = torch.repeat_interleave(torch.arange(len(ptr) - 1, device=ptr.device), ptr.diff().long())
    return row, col[: len(row)].long(), slot[: len(row)].long()


@propagate.register_fake
def _(x, edge, *graph):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@edge_products.register_fake
def _(g, x, ptr, col, slot, *others):
    return x.new_empty(slot.size(0), 1)


def _keep(ctx: Any, inputs: tuple, output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _propagate_back(ctx: Any, g: Tensor):
    x, edge, *rows = ctx.saved_tensors
    gx = propagate(g, edge, *rows[3:], *rows[:3]) if ctx.needs_input_grad[0] else None
    gedge = edge_products(g, x, *rows) if ctx.needs_input_grad[1] else None
    return gx, gedge, *([None] * 6)


def _products_back(ctx: Any, gedge: Tensor):
    g, x, *rows = ctx.saved_tensors
    return propagate(x, gedge, *rows), propagate(g, gedge, *rows[3:], *rows[:3]), *([None] * 6)


propagate.register_autograd(_propagate_back, setup_context=_keep)
edge_products.register_autograd(_products_back, setup_context=_keep)


def rows_of(graph: Graph) -> tuple[Tensor, ...]:
    """The structure as `propagate` takes it."""
    slot = torch.arange(graph.col.size(0), dtype=torch.int32, device=graph.col.device)
    return graph.ptr, graph.col, slot, graph.tptr, graph.trow, graph.tslot
