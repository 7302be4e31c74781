"""The scores of GAT: a part from either end and from the edge, added and put through a leaky ReLU."""

from numba import prange

from graphcon.kernels.loops._jit import parallel_jit


@parallel_jit
def additive_scores(ptr, col, h, target0, source0, edge, leak, score):
    """``leaky(h_i + h_j + edge)`` per edge and head."""
    for i in prange(ptr.shape[0] - 1):
        for e in range(ptr[i], ptr[i + 1]):
            for k in range(score.shape[1]):
                v = h[i, target0 + k] + h[col[e], source0 + k]
                if edge.shape[0] > 0:
                    v += edge[e, k]
                score[e, k] = v if v > h.dtype.type(0) else leak * v


@parallel_jit
def additive_back(ptr, col, h, target0, source0, edge, leak, g, gh):
    """Takes the gradient of the scores, in place, through the leaky ReLU; sums that of the row's own part."""
    for i in prange(ptr.shape[0] - 1):
        for k in range(g.shape[1]):
            s = h.dtype.type(0)
            for e in range(ptr[i], ptr[i + 1]):
                v = h[i, target0 + k] + h[col[e], source0 + k]
                if edge.shape[0] > 0:
                    v += edge[e, k]
                if v <= h.dtype.type(0):
                    g[e, k] *= leak
                s += g[e, k]
            gh[i, target0 + k] = s
