"""Sums over edges with a gate per channel: ResGatedGraphConv and GatedGCN."""

import math

from numba import prange

from graphcon.kernels.loops._jit import jit, parallel_jit
from graphcon.kernels.loops.oscillator import finish_row


@jit
def sigmoid(v):
    one = type(v)(1)
    return one / (one + math.exp(-v))


@parallel_jit
def gate_and_step(
    ptr, col, h, mean, eps, skip0, bias, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed, xo, yo, slope
):
    """One step: gates, sum, linear term, bias, activation, dropout and update in one pass.

    The columns of h are the target's part of the gate, the source's part, the values, the linear term.
    """
    for i in prange(x.shape[0]):
        z, total, width = yo[i], slope[i], yo.shape[1]
        for c in range(width):
            z[c] = total[c] = 0
        for e in range(ptr[i], ptr[i + 1]):
            j = col[e]
            for c in range(width):
                gate = sigmoid(h[i, c] + h[j, width + c])
                z[c] += gate * h[j, 2 * width + c]
                total[c] += gate
        for c in range(width):
            if mean:
                z[c] /= total[c] + eps
            z[c] += bias[c]
            if skip0 >= 0:
                z[c] += h[i, skip0 + c]
        finish_row(i, z, total, x[i], y[i], alpha, gamma, dt, act, leak, threshold, scale, seed, xo[i])


@parallel_jit
def gate_back_target(ptr, col, h, mean, eps, gz, g0, gh, top, bottom):
    """The gradient of the target's part of the gates. Leaves the mean and its denominator, where it is one."""
    for i in prange(ptr.shape[0] - 1):
        width = top.shape[1]
        if mean:
            for c in range(width):
                top[i, c] = bottom[i, c] = 0
            for e in range(ptr[i], ptr[i + 1]):
                j = col[e]
                for c in range(width):
                    gate = sigmoid(h[i, c] + h[j, width + c])
                    top[i, c] += gate * h[j, 2 * width + c]
                    bottom[i, c] += gate
            for c in range(width):
                bottom[i, c] += eps
                top[i, c] /= bottom[i, c]
        else:
            for c in range(width):
                top[i, c] = 0
                bottom[i, c] = 1
        for c in range(width):
            gh[i, c] = 0
        for e in range(ptr[i], ptr[i + 1]):
            j = col[e]
            for c in range(width):
                gate = sigmoid(h[i, c] + h[j, width + c])
                slope = gate * (h.dtype.type(1) - gate)
                gh[i, c] += slope * (h[j, 2 * width + c] - top[i, c]) * gz[i, g0 + c] / bottom[i, c]


@parallel_jit
def gate_back_source(tptr, trow, h, mean, gz, g0, top, bottom, gh):
    """The gradients of the source's part of the gates and of the values."""
    for j in prange(tptr.shape[0] - 1):
        width = top.shape[1]
        for c in range(width, 3 * width):
            gh[j, c] = 0
        for q in range(tptr[j], tptr[j + 1]):
            i = trow[q]
            for c in range(width):
                gate = sigmoid(h[i, c] + h[j, width + c])
                g = gate * gz[i, g0 + c] / bottom[i, c]
                gh[j, 2 * width + c] += g
                gh[j, width + c] += g * (h.dtype.type(1) - gate) * (h[j, 2 * width + c] - top[i, c])
