"""The elementwise part of a step: activation, dropout from a counter, oscillator; one pass each way."""

import math

import numpy as np
from numba import prange

from graphcon.kernels.loops._exp import exp, expm1, tanh
from graphcon.kernels.loops._jit import index, inlined, jit, parallel_jit


@jit
def row_key(seed, row):
    """A 32-bit key for a row: the finaliser of SplitMix64 over seed and row."""
    h = np.uint64(seed) + np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint32(h ^ (h >> np.uint64(31)))


@jit
def random_bits(key, column):
    """32 random bits for an entry of the row with that key: a counter put through an integer hash."""
    h = np.uint32(key + np.uint32(column) * np.uint32(0x9E3779B9))
    h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D))
    h = np.uint32((h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.uint32(h ^ (h >> np.uint32(16)))


@jit
def activate_row(z, slope, act, leak):
    """Replaces the row z by its activation and writes the derivative to slope. The codes are those of `ACTIVATIONS`."""
    zero, one, half = z.dtype.type(0), z.dtype.type(1), z.dtype.type(0.5)
    if act == 0:
        for c in range(z.shape[0]):
            slope[c] = one
    elif act == 1:  # relu, and leaky relu
        for c in range(z.shape[0]):
            v = z[c]
            s = leak if v <= zero else one
            slope[c] = s
            z[c] = v * leak if v <= zero else v
    elif act == 2:  # tanh
        for c in range(z.shape[0]):
            v = tanh(z[c])
            slope[c] = one - v * v
            z[c] = v
    elif act == 3:  # sigmoid
        for c in range(z.shape[0]):
            v = one / (one + exp(-z[c]))
            slope[c] = v * (one - v)
            z[c] = v
    elif act == 4:  # elu
        for c in range(z.shape[0]):
            v = z[c]
            slope[c] = one if v > zero else leak * exp(v)
            z[c] = v if v > zero else leak * expm1(v)
    elif act == 5:  # silu
        for c in range(z.shape[0]):
            v = z[c]
            s = one / (one + exp(-v))
            slope[c] = s * (one + v * (one - s))
            z[c] = v * s
    else:  # gelu
        root, density = z.dtype.type(math.sqrt(0.5)), z.dtype.type(1 / math.sqrt(2 * math.pi))
        for c in range(z.shape[0]):
            v = z[c]
            below = half * (one + math.erf(v * root))
            slope[c] = below + v * density * exp(-half * v * v)
            z[c] = v * below


@inlined
def _own(bias, i):
    """The row of the bias that node i has: its own, or the one there is."""
    return i if bias.shape[0] > 1 else index(0)


@inlined
def finish_row(i, h, skip0, bias, yo, slope, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed, xo):
    """From the sum of node i, in its row of yo, to its next state.

    The linear term stands from column skip0 on of the node's row of h (-1: there is none).
    """
    if skip0 >= 0:
        own, z = h[i], yo[i]
        for c in range(index(z.shape[0])):
            z[c] += own[index(skip0) + c]
    if act == 1 and threshold == 0:
        _finish_rectified(i, bias, yo, slope, x, y, alpha, gamma, dt, leak, xo)
    else:
        _finish_any(i, bias, yo, slope, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed, xo)


# These take matrices and look up the rows: of rows that are handed over, the compiler makes slower loops.


@inlined
def _finish_rectified(i, bias, yo, slopes, xs, ys, alpha, gamma, dt, leak, xo):
    """The usual case, a (leaky) ReLU without dropout: what lies between sum and state stays in registers."""
    z, slope, x, y, to, b = yo[i], slopes[i], xs[i], ys[i], xo[i], bias[_own(bias, i)]
    zero, one = z.dtype.type(0), z.dtype.type(1)
    for c in range(index(z.shape[0])):
        f = z[c] + b[c]
        v = y[c] + dt * ((f * leak if f <= zero else f) - gamma[c] * x[c] - alpha[c] * y[c])
        slope[c] = leak if f <= zero else one
        z[c] = v
        to[c] = x[c] + dt * v


@inlined
def _finish_any(i, bias, yo, slopes, xs, ys, alpha, gamma, dt, act, leak, threshold, scale, seed, xo):
    z, slope, x, y, to, b = yo[i], slopes[i], xs[i], ys[i], xo[i], bias[_own(bias, i)]
    channels = index(z.shape[0])
    for c in range(channels):
        z[c] += b[c]
    activate_row(z, slope, act, leak)
    if threshold > 0:
        key, zero = row_key(seed, i), z.dtype.type(0)
        for c in range(channels):
            keep = scale if random_bits(key, c) >= threshold else zero
            z[c] *= keep
            slope[c] *= keep
    for c in range(channels):
        v = y[c] + dt * (z[c] - gamma[c] * x[c] - alpha[c] * y[c])
        z[c] = v
        to[c] = x[c] + dt * v


@parallel_jit
def step_back(gx, gy, slope, alpha, gamma, dt, gz, g0, blocks):
    """Takes the gradients of a step's results, in place, to those of its state; writes that of the coupling.

    Returns the sums of the latter over so many blocks of rows: they are those of the bias. The number of blocks is
    fixed, so that the total does not depend on who sums.
    """
    rows, partial = gx.shape[0], np.zeros((blocks, gx.shape[1]), gx.dtype)
    for b in prange(blocks):
        total, start = partial[b], index(g0)
        for i in range(b * rows // blocks, (b + 1) * rows // blocks):
            gxi, gyi, si, gzi = gx[i], gy[i], slope[i], gz[i]
            for c in range(index(gxi.shape[0])):
                g = gyi[c] + dt * gxi[c]
                gxi[c] -= dt * gamma[c] * g
                gyi[c] = g - dt * alpha[c] * g
                d = dt * g * si[c]
                gzi[start + c] = d
                total[c] += d
    return partial


@parallel_jit
def add_columns(g, g0, total):
    """Adds as many columns of g as `total` has, from the first one on."""
    for i in prange(total.shape[0]):
        values, sums, start = g[i], total[i], index(g0)
        for c in range(index(sums.shape[0])):
            sums[c] += values[start + c]


@jit
def add_coefficients(gx, gy, x, y, dt, galpha, ggamma):
    """Adds what alpha and gamma get from a step that began with x and y."""
    for i in range(gx.shape[0]):
        gxi, gyi, xi, yi = gx[i], gy[i], x[i], y[i]
        for c in range(index(galpha.shape[0])):
            pull = dt * (gyi[c] + dt * gxi[c])
            galpha[c] -= pull * yi[c]
            ggamma[c] -= pull * xi[c]


@jit
def add_rows(g, total):
    """Adds up all rows."""
    for i in range(g.shape[0]):
        values = g[i]
        for c in range(index(total.shape[0])):
            total[c] += values[c]


@parallel_jit
def fill_rows(out, row):
    """Writes the same to all rows."""
    for i in prange(out.shape[0]):
        values = out[i]
        for c in range(index(row.shape[0])):
            values[c] = row[c]
