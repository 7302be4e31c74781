"""The softmax over the edges of a row, with dropout from a counter."""

import math

from numba import prange

from graphcon.kernels.loops._jit import index, jit, parallel_jit
from graphcon.kernels.loops.oscillator import random_bits, row_key


@jit
def drop_edge(e, attention, threshold, scale, seed, mean, val, zero):
    """One edge: val is its attention less what is dropped, or the sum of that over the heads."""
    heads, given, left = index(attention.shape[1]), attention[e], val[e]
    key = row_key(seed, e) if threshold > 0 else row_key(0, 0)
    total = zero
    for k in range(heads):
        a = given[k]
        if threshold > 0:
            a *= scale if random_bits(key, k) >= threshold else zero
        total += a
        if not mean:
            left[k] = a
    if mean:
        left[0] = total


@parallel_jit
def softmax(ptr, score, threshold, scale, seed, mean, val):
    """Replaces scores by attention; val is what is left of it after dropout, or the sum of that over the heads."""
    for i in prange(ptr.shape[0] - 1):
        zero, heads = score.dtype.type(0), index(score.shape[1])
        for k in range(heads):
            top = -score.dtype.type(math.inf)
            for e in range(ptr[i], ptr[i + 1]):
                top = max(top, score[e, k])
            total = score.dtype.type(1e-16)  # as PyG does, so that the two agree
            for e in range(ptr[i], ptr[i + 1]):
                v = math.exp(score[e, k] - top)
                score[e, k] = v
                total += v
            for e in range(ptr[i], ptr[i + 1]):
                score[e, k] /= total
        if mean or threshold > 0:
            for e in range(ptr[i], ptr[i + 1]):
                drop_edge(e, score, threshold, scale, seed, mean, val, zero)


@parallel_jit
def drop(ptr, attention, threshold, scale, seed, mean, val):
    """What dropout leaves of the attention, or the sum of that over the heads: what `softmax` wrote to val."""
    for i in prange(ptr.shape[0] - 1):
        for e in range(ptr[i], ptr[i + 1]):
            drop_edge(e, attention, threshold, scale, seed, mean, val, attention.dtype.type(0))


@parallel_jit
def softmax_back(ptr, attention, gval, threshold, scale, seed, mean, gscore):
    """From the gradient of val to that of the scores."""
    for i in prange(ptr.shape[0] - 1):
        zero, heads = attention.dtype.type(0), index(attention.shape[1])
        for e in range(ptr[i], ptr[i + 1]):
            key = row_key(seed, e) if threshold > 0 else row_key(0, 0)
            given, results = gval[e], gscore[e]
            for k in range(heads):
                g = given[0] if mean else given[k]
                if threshold > 0:
                    g *= scale if random_bits(key, k) >= threshold else zero
                results[k] = g
        for k in range(heads):
            dot = zero
            for e in range(ptr[i], ptr[i + 1]):
                dot += attention[e, k] * gscore[e, k]
            for e in range(ptr[i], ptr[i + 1]):
                gscore[e, k] = attention[e, k] * (gscore[e, k] - dot)
