"""Sums over edges with a gate per channel: ResGatedGraphConv and GatedGCN."""

import math

from numba import prange

from graphcon.kernels.loops._jit import index, jit, parallel_jit
from graphcon.kernels.loops.oscillator import finish_row

# The columns of h are the target's part of the gate, the source's part, the values, the linear term; those of edge,
# where there is one, its part of the gate and of the value.


@jit
def gate_and_value(target, source, edge, e, c, width):
    """What an edge brings into the sum in one channel."""
    pull, value, one = target[c] + source[width + c], source[width + width + c], target.dtype.type(1)
    if edge.shape[0] > 0:
        pull += edge[e, c]
        value += edge[e, width + c]
    return one / (one + math.exp(-pull)), value


@jit
def add_gated(own, other, edge, e, total, gates):
    """Adds what one edge brings: gate times value, and the gate."""
    width = index(total.shape[0])
    for c in range(width):
        gate, value = gate_and_value(own, other, edge, e, c, width)
        total[c] += gate * value
        gates[c] += gate


@parallel_jit
def gate_and_step(
    ptr, col, h, edge, mean, eps, skip0, bias, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed, xo, yo, slope
):
    """One step: gates, sum, linear term, bias, activation, dropout and update in one pass."""
    for i in prange(x.shape[0]):
        z, gates, own = yo[i], slope[i], h[i]
        width = index(z.shape[0])
        for c in range(width):
            z[c] = gates[c] = 0
        for e in range(ptr[i], ptr[i + 1]):
            add_gated(own, h[col[e]], edge, e, z, gates)
        if mean:
            for c in range(width):
                z[c] /= gates[c] + eps
        finish_row(index(i), h, skip0, bias, yo, slope, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed, xo)


@parallel_jit
def gate_back_target(ptr, col, h, edge, mean, eps, gz, g0, gh, top, bottom, gedge):
    """The gradient of the target's part of the gates, and of the edges where it is wanted.

    Leaves the mean and its denominator; without it zero and one.
    """
    for i in prange(ptr.shape[0] - 1):
        total, below, own, gown, g = top[i], bottom[i], h[i], gh[i], gz[i]
        width, start, one = index(total.shape[0]), index(g0), h.dtype.type(1)
        for c in range(width):
            total[c] = gown[c] = 0
            below[c] = 0 if mean else 1
        if mean:
            for e in range(ptr[i], ptr[i + 1]):
                add_gated(own, h[col[e]], edge, e, total, below)
            for c in range(width):
                below[c] += eps
                total[c] /= below[c]
        for e in range(ptr[i], ptr[i + 1]):
            other = h[col[e]]
            for c in range(width):
                gate, value = gate_and_value(own, other, edge, e, c, width)
                pull = gate * g[start + c] / below[c]
                d = pull * (one - gate) * (value - total[c])
                gown[c] += d
                if gedge.shape[0] > 0:
                    gedge[e, c] += d
                    gedge[e, width + c] += pull


@parallel_jit
def gate_back_source(tptr, trow, tslot, h, edge, gz, g0, top, bottom, gh):
    """The gradients of the source's part of the gates and of the values."""
    for j in prange(tptr.shape[0] - 1):
        own, gown, width, start, one = h[j], gh[j], index(top.shape[1]), index(g0), h.dtype.type(1)
        for c in range(width, width + width + width):
            gown[c] = 0
        for q in range(tptr[j], tptr[j + 1]):
            other, mean_of_i, below, g = h[trow[q]], top[trow[q]], bottom[trow[q]], gz[trow[q]]
            for c in range(width):
                gate, value = gate_and_value(other, own, edge, tslot[q], c, width)
                pull = gate * g[start + c] / below[c]
                gown[width + width + c] += pull
                gown[width + c] += pull * (one - gate) * (value - mean_of_i[c])
