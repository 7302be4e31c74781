"""The scores of GAT: a part from either end and from the edge, added and put through a leaky ReLU."""

from numba import prange

from graphcon.kernels.loops._jit import index, parallel_jit


@parallel_jit
def additive_scores(ptr, col, h, target0, source0, edge, leak, score):
    """``leaky(h_i + h_j + edge)`` per edge and head."""
    for i in prange(ptr.shape[0] - 1):
        own, zero, heads = h[i], h.dtype.type(0), index(score.shape[1])
        target, source = index(target0), index(source0)
        for e in range(ptr[i], ptr[i + 1]):
            other, results = h[col[e]], score[e]
            for k in range(heads):
                v = own[target + k] + other[source + k]
                if edge.shape[0] > 0:
                    v += edge[e, k]
                results[k] = v if v > zero else leak * v


@parallel_jit
def additive_back(ptr, col, h, target0, source0, edge, leak, g, gh):
    """Takes the gradient of the scores, in place, through the leaky ReLU; sums that of the row's own part."""
    for i in prange(ptr.shape[0] - 1):
        own, gown, zero, heads = h[i], gh[i], h.dtype.type(0), index(g.shape[1])
        target, source = index(target0), index(source0)
        for k in range(heads):
            gown[target + k] = zero
        for e in range(ptr[i], ptr[i + 1]):
            other, ge = h[col[e]], g[e]
            for k in range(heads):
                v = own[target + k] + other[source + k]
                if edge.shape[0] > 0:
                    v += edge[e, k]
                d = ge[k] if v > zero else leak * ge[k]
                ge[k] = d
                gown[target + k] += d
