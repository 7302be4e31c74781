"""The softmax over the edges of a row, with dropout from a counter. Edge e has its heads from ``e * heads`` on."""

import math

from graphcon.kernels.loops._jit import inlined
from graphcon.kernels.loops.oscillator import random_bits, row_key


@inlined
def softmax_row(begin, end, heads, score):
    """Replaces the scores of a row by its attention."""
    for k in range(heads):
        top = -score.dtype.type(math.inf)
        for e in range(begin, end):
            top = max(top, score[e * heads + k])
        total = score.dtype.type(1e-16)  # as PyG does, so that the two agree
        for e in range(begin, end):
            v = math.exp(score[e * heads + k] - top)
            score[e * heads + k] = v
            total += v
        for e in range(begin, end):
            score[e * heads + k] /= total


@inlined
def softmax_back_row(begin, end, heads, attention, g):
    """From the gradient of the attention to that of the scores, in place."""
    for k in range(heads):
        dot = g.dtype.type(0)
        for e in range(begin, end):
            dot += attention[e * heads + k] * g[e * heads + k]
        for e in range(begin, end):
            g[e * heads + k] = attention[e * heads + k] * (g[e * heads + k] - dot)


@inlined
def drop_row(begin, end, heads, attention, threshold, scale, seed, mean, val):
    """What dropout leaves of the attention of a row, or the sum of that over the heads."""
    for e in range(begin, end):
        total = attention.dtype.type(0)
        for k in range(heads):
            a = attention[e * heads + k] * kept(e, k, threshold, scale, seed)
            total += a
            if not mean:
                val[e * heads + k] = a
        if mean:
            val[e] = total


@inlined
def kept(e, k, threshold, scale, seed):
    """What dropout multiplies the attention of an edge and a head with."""
    if threshold == 0:
        return scale
    return scale if random_bits(row_key(seed, e), k) >= threshold else scale - scale
