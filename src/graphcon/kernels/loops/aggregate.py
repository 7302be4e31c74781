"""Sums over the edges of a row, with a number per edge and head."""

from numba import prange

from graphcon.kernels.loops._jit import index, parallel_jit
from graphcon.kernels.loops.oscillator import finish_row


@parallel_jit
def aggregate_and_step(
    ptr, col, val, edge, mix, h, v0, width, concat, skip0, bias, x, y, alpha, gamma, dt, act, leak, threshold, scale,
    seed, xo, yo, slope,
):  # fmt: skip
    """One step of the oscillator: aggregation, linear term, bias, activation, dropout and update in one pass.

    Head k of a node's values stands in the columns from ``v0 + k * width`` on of h, the linear term from skip0 on
    (-1: there is none). Heads are put side by side or added up, with the factor mix. What edge has, if anything, is
    added to the values.
    """
    for i in prange(x.shape[0]):
        z, own = yo[i], h[i]
        heads, wide, first = index(val.shape[1]), index(width), index(v0)
        if skip0 >= 0:
            for c in range(index(z.shape[0])):
                z[c] = own[index(skip0) + c] + bias[c]
        else:
            for c in range(z.shape[0]):
                z[c] = bias[c]
        for e in range(ptr[i], ptr[i + 1]):
            other, given, weights = h[col[e]], edge[e], val[e]
            for k in range(heads):
                a, at = mix * weights[k], k * wide
                to = at if concat else index(0)
                for c in range(wide):
                    z[to + c] += a * other[first + at + c]
                if edge.shape[0] > 0:
                    for c in range(wide):
                        z[to + c] += a * given[at + c]
        finish_row(i, z, slope[i], x[i], y[i], alpha, gamma, dt, act, leak, threshold, scale, seed, xo[i])


@parallel_jit
def gather(ptr, col, slot, through, val, mix, g, g0, width, concat, out, o0):
    """The sum of ``val * g`` over the edges of a row, per head; where `through`, edges are numbered by slot."""
    for i in prange(ptr.shape[0] - 1):
        heads, wide, first, start = index(val.shape[1]), index(width), index(g0), index(o0)
        total = out[i]
        for c in range(heads * wide):
            total[start + c] = 0
        for q in range(ptr[i], ptr[i + 1]):
            other, weights = g[col[q]], val[slot[q] if through else q]
            for k in range(heads):
                a, to = mix * weights[k], start + k * wide
                at = first + k * wide if concat else first
                for c in range(wide):
                    total[to + c] += a * other[at + c]


@parallel_jit
def edge_products(ptr, col, a, a0, b, b0, width, concat, mix, out, add):
    """The scalar products of a row of a with the rows of b at the other ends of its edges, per head."""
    for i in prange(ptr.shape[0] - 1):
        heads, wide, left, right = index(out.shape[1]), index(width), index(a0), index(b0)
        own = a[i]
        for e in range(ptr[i], ptr[i + 1]):
            other, results = b[col[e]], out[e]
            for k in range(heads):
                at = left + k * wide if concat else left
                to = right + k * wide
                s = a.dtype.type(0)
                for c in range(wide):
                    s += own[at + c] * other[to + c]
                results[k] = results[k] + mix * s if add else mix * s


@parallel_jit
def edge_sums(ptr, slot, through, val, out, o0):
    """The sum of the numbers on the edges of a row, per head."""
    for i in prange(ptr.shape[0] - 1):
        total, heads, start = out[i], index(val.shape[1]), index(o0)
        for k in range(heads):
            total[start + k] = 0
        for q in range(ptr[i], ptr[i + 1]):
            numbers = val[slot[q] if through else q]
            for k in range(heads):
                total[start + k] += numbers[k]
