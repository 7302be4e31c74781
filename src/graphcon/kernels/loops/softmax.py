"""The softmax over the edges of a row, with dropout from a counter. Edge e has its heads from ``e * heads`` on."""

import math

from graphcon.kernels.loops._exp import exp
from graphcon.kernels.loops._jit import index, inlined
from graphcon.kernels.loops._lanes import load, store, where_positive, zeros
from graphcon.kernels.loops.oscillator import random_bits, row_key

_LEAST = 1e-16  # what PyG adds to the sum, so that the two agree


@inlined
def softmax_row(begin, end, heads, score):
    """Replaces the scores of a row by its attention. Heads are taken four at a time, then one by one."""
    k = index(0)
    while k + index(4) <= heads:
        _softmax_lanes(begin, end, heads, k, score)
        k += index(4)
    while k < heads:
        _softmax(begin, end, heads, k, score)
        k += index(1)


@inlined
def _softmax_lanes(begin, end, heads, k, score):
    zero, total = index(0), zeros(score, 4)
    top = total - score.dtype.type(math.inf)
    for e in range(begin, end):
        v = load(total, score, zero, e * heads + k)
        top = where_positive(v - top, v, top)
    for e in range(begin, end):
        v = exp(load(total, score, zero, e * heads + k) - top)
        total = total + v
        store(v, score, zero, e * heads + k)
    total = total + score.dtype.type(_LEAST)
    for e in range(begin, end):
        store(load(total, score, zero, e * heads + k) / total, score, zero, e * heads + k)


@inlined
def _softmax(begin, end, heads, k, score):
    top = -score.dtype.type(math.inf)
    for e in range(begin, end):
        top = max(top, score[e * heads + k])
    total = score.dtype.type(_LEAST)
    for e in range(begin, end):
        v = exp(score[e * heads + k] - top)
        score[e * heads + k] = v
        total += v
    for e in range(begin, end):
        score[e * heads + k] /= total


@inlined
def softmax_back_row(begin, end, heads, attention, g):
    """From the gradient of the attention to that of the scores, in place."""
    k, zero = index(0), index(0)
    while k + index(4) <= heads:
        dots = zeros(g, 4)
        for e in range(begin, end):
            place = e * heads + k
            dots = dots + load(dots, attention, zero, place) * load(dots, g, zero, place)
        for e in range(begin, end):
            place = e * heads + k
            store(load(dots, attention, zero, place) * (load(dots, g, zero, place) - dots), g, zero, place)
        k += index(4)
    while k < heads:
        dot = g.dtype.type(0)
        for e in range(begin, end):
            dot += attention[e * heads + k] * g[e * heads + k]
        for e in range(begin, end):
            g[e * heads + k] = attention[e * heads + k] * (g[e * heads + k] - dot)
        k += index(1)


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
