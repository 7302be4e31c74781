"""The scores of GATv2: a vector over the leaky ReLU of both ends and the edge together."""

from numba import prange

from graphcon.kernels.loops._jit import index, parallel_jit


@parallel_jit
def dynamic_scores(ptr, col, h, target0, source0, width, edge, vector, leak, score):
    """``vector · leaky(h_i + h_j + edge)`` per edge and head."""
    for i in prange(ptr.shape[0] - 1):
        own, zero, wide = h[i], h.dtype.type(0), index(width)
        for e in range(ptr[i], ptr[i + 1]):
            other, given, results = h[col[e]], edge[e], score[e]
            for k in range(index(score.shape[1])):
                s, at = zero, k * wide
                for c in range(at, at + wide):
                    v = own[index(target0) + c] + other[index(source0) + c]
                    if edge.shape[0] > 0:
                        v += given[c]
                    s += vector[c] * (v if v > zero else leak * v)
                results[k] = s


@parallel_jit
def dynamic_back_target(ptr, col, h, target0, source0, width, edge, vector, leak, g, gh, gvector, gedge):
    """From the gradient of the scores to that of the row's own end, to the row's part in that of the vector, and where
    it is wanted to that of the edges.
    """
    for i in prange(ptr.shape[0] - 1):
        own, gown, gpart = h[i], gh[i], gvector[i]
        zero, one, wide = h.dtype.type(0), h.dtype.type(1), index(width)
        target, source = index(target0), index(source0)
        for c in range(index(vector.shape[0])):
            gown[target + c] = zero
            gpart[c] = zero
        for e in range(ptr[i], ptr[i + 1]):
            other, given, ge, gfeature = h[col[e]], edge[e], g[e], gedge[e]
            for k in range(index(g.shape[1])):
                s, at = ge[k], k * wide
                for c in range(at, at + wide):
                    v = own[target + c] + other[source + c]
                    if edge.shape[0] > 0:
                        v += given[c]
                    d = s * vector[c] * (one if v > zero else leak)
                    gown[target + c] += d
                    gpart[c] += s * (v if v > zero else leak * v)
                    if gedge.shape[0] > 0:
                        gfeature[c] += d


@parallel_jit
def dynamic_back_source(tptr, trow, tslot, h, target0, source0, width, edge, vector, leak, g, gh):
    """Adds the gradient of the scores to that of the other end, which has one from the values already."""
    for j in prange(tptr.shape[0] - 1):
        own, gown = h[j], gh[j]
        zero, one, wide = h.dtype.type(0), h.dtype.type(1), index(width)
        target, source = index(target0), index(source0)
        for q in range(tptr[j], tptr[j + 1]):
            other, given, ge = h[trow[q]], edge[tslot[q]], g[tslot[q]]
            for k in range(index(g.shape[1])):
                s, at = ge[k], k * wide
                for c in range(at, at + wide):
                    v = own[source + c] + other[target + c]
                    if edge.shape[0] > 0:
                        v += given[c]
                    gown[source + c] += s * vector[c] * (one if v > zero else leak)
