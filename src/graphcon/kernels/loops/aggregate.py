"""Sums over the edges of a row, with a number per edge and head."""

from numba import prange

from graphcon.kernels.loops._jit import parallel_jit
from graphcon.kernels.loops.oscillator import finish_row


@parallel_jit
def aggregate_and_step(
    ptr, col, val, mix, h, v0, width, concat, skip0, bias, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed,
    xo, yo, slope,
):  # fmt: skip
    """One step of the oscillator: aggregation, linear term, bias, activation, dropout and update in one pass.

    Head k of a node's values stands in the columns from ``v0 + k * width`` on of h, the linear term from skip0 on
    (-1: there is none). Heads are put side by side, or added up with the factor mix.
    """
    for i in prange(x.shape[0]):
        z = yo[i]
        if skip0 >= 0:
            for c in range(z.shape[0]):
                z[c] = h[i, skip0 + c] + bias[c]
        else:
            for c in range(z.shape[0]):
                z[c] = bias[c]
        for e in range(ptr[i], ptr[i + 1]):
            j = col[e]
            for k in range(val.shape[1]):
                a = mix * val[e, k]
                first, to = v0 + k * width, k * width if concat else 0
                for c in range(width):
                    z[to + c] += a * h[j, first + c]
        finish_row(i, z, slope[i], x[i], y[i], alpha, gamma, dt, act, leak, threshold, scale, seed, xo[i])


@parallel_jit
def gather(ptr, col, slot, through, val, mix, g, g0, width, concat, out, o0):
    """The sum of ``val * g`` over the edges of a row, per head; where `through`, edges are numbered by slot."""
    for i in prange(ptr.shape[0] - 1):
        for c in range(width * val.shape[1]):
            out[i, o0 + c] = 0
        for q in range(ptr[i], ptr[i + 1]):
            j = col[q]
            e = slot[q] if through else q
            for k in range(val.shape[1]):
                a = mix * val[e, k]
                to, first = o0 + k * width, g0 + (k * width if concat else 0)
                for c in range(width):
                    out[i, to + c] += a * g[j, first + c]


@parallel_jit
def edge_products(ptr, col, a, a0, b, b0, width, concat, mix, out, add):
    """The scalar products of a row of a with the rows of b at the other ends of its edges, per head."""
    for i in prange(ptr.shape[0] - 1):
        for e in range(ptr[i], ptr[i + 1]):
            j = col[e]
            for k in range(out.shape[1]):
                left, right = a0 + (k * width if concat else 0), b0 + k * width
                s = a.dtype.type(0)
                for c in range(width):
                    s += a[i, left + c] * b[j, right + c]
                if add:
                    out[e, k] += mix * s
                else:
                    out[e, k] = mix * s


@parallel_jit
def edge_sums(ptr, slot, through, val, out, o0):
    """The sum of the numbers on the edges of a row, per head."""
    for i in prange(ptr.shape[0] - 1):
        for k in range(val.shape[1]):
            s = val.dtype.type(0)
            for q in range(ptr[i], ptr[i + 1]):
                s += val[slot[q] if through else q, k]
            out[i, o0 + k] = s
