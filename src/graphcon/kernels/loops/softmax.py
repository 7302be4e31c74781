"""The softmax over the edges of a row, with dropout from a counter."""

import math

from numba import prange

from graphcon.kernels.loops._jit import jit, parallel_jit
from graphcon.kernels.loops.oscillator import random_bits, row_key


@jit
def drop_row(e, attention, threshold, scale, seed, mean, val, zero):
    """One edge: val is its attention less what is dropped, or the sum of that over the heads."""
    key = row_key(seed, e) if threshold > 0 else row_key(0, 0)
    if mean:
        val[e, 0] = zero
    for k in range(attention.shape[1]):
        a = attention[e, k]
        if threshold > 0:
            a *= scale if random_bits(key, k) >= threshold else zero
        if mean:
            val[e, 0] += a
        else:
            val[e, k] = a


@parallel_jit
def softmax(ptr, score, threshold, scale, seed, mean, val):
    """Replaces scores by attention; val is what is left of it after dropout, or the sum of that over the heads."""
    heads = score.shape[1]
    for i in prange(ptr.shape[0] - 1):
        zero = score.dtype.type(0)
        for k in range(heads):
            top = -score.dtype.type(math.inf)
            for e in range(ptr[i], ptr[i + 1]):
                top = max(top, score[e, k])
            total = zero
            for e in range(ptr[i], ptr[i + 1]):
                v = math.exp(score[e, k] - top)
                score[e, k] = v
                total += v
            # what PyG adds to the sum, so that the two agree
            total += score.dtype.type(1e-16)
            for e in range(ptr[i], ptr[i + 1]):
                score[e, k] /= total
        for e in range(ptr[i], ptr[i + 1]):
            drop_row(e, score, threshold, scale, seed, mean, val, zero)


@parallel_jit
def softmax_back(ptr, attention, gval, threshold, scale, seed, mean, gscore):
    """From the gradient of val to that of the scores."""
    for i in prange(ptr.shape[0] - 1):
        zero = attention.dtype.type(0)
        for e in range(ptr[i], ptr[i + 1]):
            key = row_key(seed, e) if threshold > 0 else row_key(0, 0)
            for k in range(attention.shape[1]):
                g = gval[e, 0 if mean else k]
                if threshold > 0:
                    g *= scale if random_bits(key, k) >= threshold else zero
                gscore[e, k] = g
        for k in range(attention.shape[1]):
            dot = zero
            for e in range(ptr[i], ptr[i + 1]):
                dot += attention[e, k] * gscore[e, k]
            for e in range(ptr[i], ptr[i + 1]):
                gscore[e, k] = attention[e, k] * (gscore[e, k] - dot)


@parallel_jit
def drop(ptr, attention, threshold, scale, seed, mean, val):
    """What dropout leaves of the attention, or the sum of that over the heads: what `softmax` wrote to val."""
    for i in prange(ptr.shape[0] - 1):
        zero = attention.dtype.type(0)
        for e in range(ptr[i], ptr[i + 1]):
            drop_row(e, attention, threshold, scale, seed, mean, val, zero)
