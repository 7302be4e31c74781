"""Sums over edges with a gate per channel: ResGatedGraphConv and GatedGCN."""

from numba import prange

from graphcon.kernels.loops._exp import exp
from graphcon.kernels.loops._jit import index, inlined, parallel_jit
from graphcon.kernels.loops._lanes import load_some, store_some, zeros
from graphcon.kernels.loops.oscillator import finish_row

# The columns of h are the target's part of the gate, the source's part, the values, the linear term; those of edge,
# where there is one, its part of the gate and of the value.

# So many channels of a row are worked on at a time, then those that are left over. Where the compiler knows that none
# is left over it needs no mask.
LANES = 16


@parallel_jit
def gate_and_step(
    ptr, col, h, edge, mean, eps, skip0, bias, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed, xo, yo, slope
):
    """One step: gates, sum, linear term, bias, activation, dropout and update in one pass."""
    for n in prange(x.shape[0]):
        i, width, c = index(n), index(x.shape[1]), index(0)
        while c + index(LANES) <= width:
            _sum(i, c, index(LANES), width, ptr, col, h, edge, mean, eps, yo)
            c += index(LANES)
        if c < width:
            _sum(i, c, width - c, width, ptr, col, h, edge, mean, eps, yo)
        finish_row(i, h, skip0, bias, yo, slope, x, y, alpha, gamma, dt, act, leak, threshold, scale, seed, xo)


@parallel_jit
def gate_back_target(ptr, col, h, edge, mean, eps, gz, g0, gh, means, shares, gedge):
    """The gradient of the target's part of the gates, and of the edges where it is wanted.

    Leaves what the sources need of a row: its mean, and its gradient over the sum of the gates. Where gates are not
    divided by their sum, these are zero and the gradient.
    """
    for n in prange(ptr.shape[0] - 1):
        i, width, c = index(n), index(means.shape[1]), index(0)
        while c + index(LANES) <= width:
            _back_target(i, c, index(LANES), width, ptr, col, h, edge, mean, eps, gz, g0, gh, means, shares, gedge)
            c += index(LANES)
        if c < width:
            _back_target(i, c, width - c, width, ptr, col, h, edge, mean, eps, gz, g0, gh, means, shares, gedge)


@parallel_jit
def gate_back_source(tptr, trow, tslot, h, edge, means, shares, gh):
    """The gradients of the source's part of the gates and of the values."""
    for n in prange(tptr.shape[0] - 1):
        j, width, c = index(n), index(means.shape[1]), index(0)
        while c + index(LANES) <= width:
            _back_source(j, c, index(LANES), width, tptr, trow, tslot, h, edge, means, shares, gh)
            c += index(LANES)
        if c < width:
            _back_source(j, c, width - c, width, tptr, trow, tslot, h, edge, means, shares, gh)


@inlined
def _sum(i, c, many, width, ptr, col, h, edge, mean, eps, out):
    """What so many channels from c on get from the edges of row i."""
    nothing = zeros(h, LANES)
    own, total, gates = load_some(nothing, h, i, c, many), nothing, nothing
    for e in range(index(ptr[i]), index(ptr[i + index(1)])):
        gate, value = _gate_and_value(own, index(col[e]), e, c, many, width, h, edge)
        total, gates = total + gate * value, gates + gate
    store_some(total / (gates + eps) if mean else total, out, i, c, many)


@inlined
def _back_target(i, c, many, width, ptr, col, h, edge, mean, eps, gz, g0, gh, means, shares, gedge):
    begin, end = index(ptr[i]), index(ptr[i + index(1)])
    nothing, one = zeros(h, LANES), h.dtype.type(1)
    own, share = load_some(nothing, h, i, c, many), load_some(nothing, gz, i, index(g0) + c, many)
    top, g = nothing, nothing
    if mean:
        gates = nothing
        for e in range(begin, end):
            gate, value = _gate_and_value(own, index(col[e]), e, c, many, width, h, edge)
            top, gates = top + gate * value, gates + gate
        top, share = top / (gates + eps), share / (gates + eps)
    for e in range(begin, end):
        gate, value = _gate_and_value(own, index(col[e]), e, c, many, width, h, edge)
        pull = gate * share
        d = pull * (one - gate) * (value - top)
        g = g + d
        if gedge.shape[0] > 0:
            store_some(load_some(nothing, gedge, e, c, many) + d, gedge, e, c, many)
            store_some(load_some(nothing, gedge, e, width + c, many) + pull, gedge, e, width + c, many)
    store_some(g, gh, i, c, many)
    store_some(top, means, i, c, many)
    store_some(share, shares, i, c, many)


@inlined
def _back_source(j, c, many, width, tptr, trow, tslot, h, edge, means, shares, gh):
    nothing, one = zeros(h, LANES), h.dtype.type(1)
    g, gvalue = nothing, nothing
    for q in range(index(tptr[j]), index(tptr[j + index(1)])):
        i = index(trow[q])
        own = load_some(nothing, h, i, c, many)
        gate, value = _gate_and_value(own, j, index(tslot[q]), c, many, width, h, edge)
        pull = gate * load_some(nothing, shares, i, c, many)
        g = g + pull * (one - gate) * (value - load_some(nothing, means, i, c, many))
        gvalue = gvalue + pull
    store_some(g, gh, j, width + c, many)
    store_some(gvalue, gh, j, width + width + c, many)


@inlined
def _gate_and_value(own, j, e, c, many, width, h, edge):
    """What edge e from node j brings into the sum; own is the target's part of the gate."""
    one = h.dtype.type(1)
    pull, value = own + load_some(own, h, j, width + c, many), load_some(own, h, j, width + width + c, many)
    if edge.shape[0] > 0:
        pull = pull + load_some(own, edge, e, c, many)
        value = value + load_some(own, edge, e, width + c, many)
    return one / (one + exp(h.dtype.type(0) - pull)), value
