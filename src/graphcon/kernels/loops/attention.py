"""Couplings whose weights depend on the state: one sweep over the targets forward; back one over the sources for the
values, one over the targets for the scores, and one over the sources for what the other ends brought into them.
"""

from numba import prange

from graphcon.kernels.loops._jit import index, parallel_jit
from graphcon.kernels.loops.additive import additive_back_row, additive_back_source_row, additive_scores_row
from graphcon.kernels.loops.dynamic import dynamic_back_source_row, dynamic_back_target_row, dynamic_scores_row
from graphcon.kernels.loops.features import add_back_row, add_products_row, add_sums_row
from graphcon.kernels.loops.heads import multiply_heads, sum_and_multiply_heads, sum_heads
from graphcon.kernels.loops.oscillator import finish_row
from graphcon.kernels.loops.softmax import drop_row, kept, softmax_back_row, softmax_row
from graphcon.kernels.loops.sums import sum_and_multiply, sum_edges

# Of `additive`, `dynamic` and `dot` two are None, and what is None is not compiled; the third is True, or where it is
# `additive` the halves of the scores.


@parallel_jit
def take_columns(h, first0, out):
    """Copies as many columns of h as `out` has, from the first one on."""
    for n in prange(h.shape[0]):
        i, first = index(n), index(first0)
        for c in range(index(out.shape[1])):
            out[i, c] = h[i, first + c]


@parallel_jit
def attend_and_step(
    ptr, col, h, additive, dynamic, dot, heads0, target0, source0, key0, edge, vector, score_leak, attention,
    edge_threshold, edge_scale, edge_seed, mean, val, mix, value0, width0, concat, skip0, bias, x, y, alpha, gamma, dt,
    act, leak, threshold, scale, seed, xo, yo, slope,
):  # fmt: skip
    """One step: scores, softmax, dropout, sum, and what follows it. Leaves the attention, and val where it differs."""
    for n in prange(x.shape[0]):
        i, begin, end = index(n), index(ptr[n]), index(ptr[n + 1])
        heads, target, source, key = index(heads0), index(target0), index(source0), index(key0)
        value, width = index(value0), index(width0)
        if additive is not None:
            additive_scores_row(i, begin, end, col, additive, heads, edge, score_leak, attention)
        if dynamic is not None:
            dynamic_scores_row(i, begin, end, col, h, heads, target, source, key, edge, vector, score_leak, attention)
        if dot is not None:
            multiply_heads(begin, end, col, h, i, target, source, heads, key, attention)
            if edge.shape[0] > 0:
                add_products_row(i, begin, end, h, heads, target, key, True, h.dtype.type(1), edge, attention)
        softmax_row(begin, end, heads, attention)
        weights = val if val.shape[0] > 0 else attention
        if val.shape[0] > 0:
            drop_row(begin, end, heads, attention, edge_threshold, edge_scale, edge_seed, mean, val)
        sums = index(1) if mean else heads
        if concat:
            sum_heads(begin, end, col, col, False, weights, sums, mix, h, value, width, yo, i, index(0))
        else:
            for k in range(sums):
                at = value + k * width
                sum_edges(begin, end, col, col, False, weights, sums, k, mix, h, at, width, k > 0, yo, i, index(0))
        if dot is not None and edge.shape[0] > 0:
            add_sums_row(i, begin, end, weights, heads, mix, edge, width, concat, yo, index(0))
        finish_row(i, h, skip0, bias, yo, slope, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed, xo)


@parallel_jit
def drop(ptr, heads0, attention, edge_threshold, edge_scale, edge_seed, mean, val):
    """What dropout leaves of the attention, or the sum of that over the heads."""
    for n in prange(ptr.shape[0] - 1):
        drop_row(
            index(ptr[n]), index(ptr[n + 1]), index(heads0), attention, edge_threshold, edge_scale, edge_seed, mean, val
        )


@parallel_jit
def attend_back_values(tptr, trow, tslot, h, heads0, weights, mean, mix, value0, width0, concat, gz, g0, g, gh):
    """From the gradient of the coupling to those of the values, and of the weights of the edges, g."""
    for n in prange(tptr.shape[0] - 1):
        j, begin, end = index(n), index(tptr[n]), index(tptr[n + 1])
        heads, value, width, start = index(heads0), index(value0), index(width0), index(g0)
        sums = index(1) if mean else heads
        if concat and sums == heads:
            sum_and_multiply_heads(begin, end, trow, tslot, weights, heads, mix, gz, start, width, h, j, value, gh, g)
        else:
            for k in range(sums):
                at, to = start + k * width if concat else start, value + k * width
                sum_and_multiply(begin, end, trow, tslot, weights, sums, k, mix, gz, at, width, h, j, to, gh, g, heads)


@parallel_jit
def attend_back_target(
    ptr, col, h, additive, dynamic, dot, heads0, target0, source0, key0, edge, vector, score_leak, attention,
    edge_threshold, edge_scale, edge_seed, mean, val, mix, width0, concat, gz, g0, g, gh, gvector, gedge,
):  # fmt: skip
    """From the gradient of the weights to that of the scores, both g, and of what the row itself brings into them."""
    for n in prange(ptr.shape[0] - 1):
        i, begin, end = index(n), index(ptr[n]), index(ptr[n + 1])
        heads, target, source, key = index(heads0), index(target0), index(source0), index(key0)
        width, start = index(width0), index(g0)
        weights = val if val.shape[0] > 0 else attention
        if dot is not None and edge.shape[0] > 0:
            add_products_row(i, begin, end, gz, heads, start, width, concat, mix, edge, g)
        if val.shape[0] > 0:
            for e in range(begin, end):
                for last in range(heads):
                    k = heads - index(1) - last  # a mean has its one gradient at the first head
                    g[e * heads + k] = g[e * heads + (index(0) if mean else k)] * kept(
                        e, k, edge_threshold, edge_scale, edge_seed
                    )
        if dot is not None and edge.shape[0] > 0 and gedge.shape[0] > 0:
            add_back_row(i, begin, end, weights, heads, mix, gz, start, width, concat, gedge)
        softmax_back_row(begin, end, heads, attention, g)
        if additive is not None:
            additive_back_row(i, begin, end, col, additive, heads, edge, score_leak, g, target, gh, gedge)
        if dynamic is not None:
            dynamic_back_target_row(
                i, begin, end, col, h, heads, target, source, key, edge, vector, score_leak, g, gh, gvector, gedge
            )
        if dot is not None:
            sum_heads(begin, end, col, col, False, g, heads, h.dtype.type(1), h, source, key, gh, i, target)
            if edge.shape[0] > 0:
                add_sums_row(i, begin, end, g, heads, h.dtype.type(1), edge, key, True, gh, target)
                if gedge.shape[0] > 0:
                    add_back_row(i, begin, end, g, heads, h.dtype.type(1), h, target, key, True, gedge)


@parallel_jit
def attend_back_source(
    tptr, trow, tslot, h, additive, dynamic, dot, heads0, target0, source0, key0, edge, vector, score_leak, g, gh
):
    """The gradient of what the other end brings into the scores."""
    for n in prange(tptr.shape[0] - 1):
        j, begin, end = index(n), index(tptr[n]), index(tptr[n + 1])
        heads, target, source, key = index(heads0), index(target0), index(source0), index(key0)
        if additive is not None:
            additive_back_source_row(j, begin, end, tslot, heads, source, g, gh)
        if dynamic is not None:
            dynamic_back_source_row(
                j, begin, end, trow, tslot, h, heads, target, source, key, edge, vector, score_leak, g, gh
            )
        if dot is not None:
            sum_heads(begin, end, trow, tslot, True, g, heads, h.dtype.type(1), h, target, key, gh, j, source)
