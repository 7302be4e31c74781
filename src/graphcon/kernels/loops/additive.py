"""The scores of GAT: a half from either end and something from the edge, added and put through a leaky ReLU.

The halves stand apart from the values, those of the source before those of the target: looking one up in the midst of
the values would fetch a line of memory for it alone. Heads are taken four at a time, then one by one.
"""

from graphcon.kernels.loops._jit import index, inlined
from graphcon.kernels.loops._lanes import load, store, where_positive, zeros


@inlined
def additive_scores_row(i, begin, end, col, halves, heads, edge, leak, score):
    """``leaky(half_i + half_j + edge)`` per edge and head."""
    k, zero = index(0), halves.dtype.type(0)
    while k + index(4) <= heads:
        own = load(zeros(halves, 4), halves, i, heads + k)
        for e in range(begin, end):
            v = own + load(own, halves, index(col[e]), k)
            if edge.shape[0] > 0:
                v = v + load(own, edge, e, k)
            store(where_positive(v, v, leak * v), score, index(0), e * heads + k)
        k += index(4)
    while k < heads:
        for e in range(begin, end):
            v = halves[i, heads + k] + halves[index(col[e]), k]
            if edge.shape[0] > 0:
                v += edge[e, k]
            score[e * heads + k] = v if v > zero else leak * v
        k += index(1)


@inlined
def additive_back_row(i, begin, end, col, halves, heads, edge, leak, g, target, gh, gedge):
    """Takes the gradient of the scores, in place, through the leaky ReLU; sums that of the row's own part."""
    k, zero = index(0), halves.dtype.type(0)
    while k + index(4) <= heads:
        total = zeros(halves, 4)
        own = load(total, halves, i, heads + k)
        for e in range(begin, end):
            v = own + load(own, halves, index(col[e]), k)
            if edge.shape[0] > 0:
                v = v + load(own, edge, e, k)
            d = load(own, g, index(0), e * heads + k)
            d = where_positive(v, d, leak * d)
            total = total + d
            store(d, g, index(0), e * heads + k)
            if gedge.shape[0] > 0:
                store(load(own, gedge, e, k) + d, gedge, e, k)
        store(total, gh, i, target + k)
        k += index(4)
    while k < heads:
        total = zero
        for e in range(begin, end):
            v = halves[i, heads + k] + halves[index(col[e]), k]
            if edge.shape[0] > 0:
                v += edge[e, k]
            d = g[e * heads + k]
            d = d if v > zero else leak * d
            total += d
            g[e * heads + k] = d
            if gedge.shape[0] > 0:
                gedge[e, k] += d
        gh[i, target + k] = total
        k += index(1)


@inlined
def additive_back_source_row(j, begin, end, tslot, heads, source, g, gh):
    """Sums the gradient of what row j brings into the scores of others."""
    k = index(0)
    while k + index(4) <= heads:
        total = zeros(gh, 4)
        for q in range(begin, end):
            total = total + load(total, g, index(0), index(tslot[q]) * heads + k)
        store(total, gh, j, source + k)
        k += index(4)
    while k < heads:
        total = gh.dtype.type(0)
        for q in range(begin, end):
            total += g[index(tslot[q]) * heads + k]
        gh[j, source + k] = total
        k += index(1)
