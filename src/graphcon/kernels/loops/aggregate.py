"""Sums over the edges of a row, with a number given per edge and head."""

from numba import prange

from graphcon.kernels.loops._jit import index, parallel_jit
from graphcon.kernels.loops.oscillator import finish_row
from graphcon.kernels.loops.sums import product, sum_edges


@parallel_jit
def aggregate_and_step(
    ptr, col, val, heads0, mix, h, value0, width0, concat, skip0, bias, x, y, alpha, gamma, dt, act, leak, threshold,
    scale, seed, xo, yo, slope,
):  # fmt: skip
    """One step of the oscillator: aggregation, linear term, bias, activation, dropout and update in one pass.

    Head k of a node's values stands in the columns from ``value0 + k * width`` on of h. Heads are put side by side or
    added up, with the factor mix. Edge e has its numbers from ``e * heads`` on in val.
    """
    for n in prange(x.shape[0]):
        i, begin, end = index(n), index(ptr[n]), index(ptr[n + 1])
        heads, value, width = index(heads0), index(value0), index(width0)
        for k in range(heads):
            to = k * width if concat else index(0)
            add = k > 0 and not concat
            sum_edges(begin, end, col, col, False, val, heads, k, mix, h, value + k * width, width, add, yo, i, to)
        finish_row(i, h, skip0, bias, yo, slope, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed, xo)


@parallel_jit
def gather(ptr, col, slot, val, heads0, mix, g, g0, width0, concat, out, o0):
    """The sum of ``val * g`` over the edges of a row, per head; edges are numbered by slot."""
    for n in prange(ptr.shape[0] - 1):
        i, begin, end = index(n), index(ptr[n]), index(ptr[n + 1])
        heads, width = index(heads0), index(width0)
        for k in range(heads):
            at, to = index(g0) + k * width if concat else index(g0), index(o0) + k * width
            sum_edges(begin, end, col, slot, True, val, heads, k, mix, g, at, width, False, out, i, to)


@parallel_jit
def add_edge_products(ptr, col, a, a0, b, b0, heads0, width0, concat, mix, out):
    """Adds the scalar products of a row of a with the rows of b at the other ends of its edges, per head."""
    for n in prange(ptr.shape[0] - 1):
        i, heads, width = index(n), index(heads0), index(width0)
        for e in range(index(ptr[n]), index(ptr[n + 1])):
            for k in range(heads):
                at = index(a0) + k * width if concat else index(a0)
                out[e * heads + k] += mix * product(a, i, at, b, index(col[e]), index(b0) + k * width, width)
