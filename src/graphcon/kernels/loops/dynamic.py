"""The scores of GATv2: a vector over the leaky ReLU of both ends together."""

from numba import prange

from graphcon.kernels.loops._jit import parallel_jit


@parallel_jit
def dynamic_scores(ptr, col, h, target0, source0, width, vector, leak, score):
    """``vector · leaky(h_i + h_j)`` per edge and head."""
    for i in prange(ptr.shape[0] - 1):
        zero = h.dtype.type(0)
        for e in range(ptr[i], ptr[i + 1]):
            j = col[e]
            for k in range(score.shape[1]):
                s = zero
                for c in range(k * width, (k + 1) * width):
                    v = h[i, target0 + c] + h[j, source0 + c]
                    s += vector[c] * (v if v > zero else leak * v)
                score[e, k] = s


@parallel_jit
def dynamic_back_target(ptr, col, h, target0, source0, width, vector, leak, g, gh, gvector):
    """From the gradient of the scores to that of the row's own end, and to the row's part in that of the vector."""
    for i in prange(ptr.shape[0] - 1):
        zero = h.dtype.type(0)
        for c in range(vector.shape[0]):
            gh[i, target0 + c] = zero
            gvector[i, c] = zero
        for e in range(ptr[i], ptr[i + 1]):
            j = col[e]
            for k in range(g.shape[1]):
                s = g[e, k]
                for c in range(k * width, (k + 1) * width):
                    v = h[i, target0 + c] + h[j, source0 + c]
                    gh[i, target0 + c] += s * vector[c] * (h.dtype.type(1) if v > zero else leak)
                    gvector[i, c] += s * (v if v > zero else leak * v)


@parallel_jit
def dynamic_back_source(tptr, trow, tslot, h, target0, source0, width, vector, leak, g, gh):
    """Adds the gradient of the scores to that of the other end, which has one from the values already."""
    for j in prange(tptr.shape[0] - 1):
        zero = h.dtype.type(0)
        for q in range(tptr[j], tptr[j + 1]):
            i, e = trow[q], tslot[q]
            for k in range(g.shape[1]):
                s = g[e, k]
                for c in range(k * width, (k + 1) * width):
                    v = h[i, target0 + c] + h[j, source0 + c]
                    gh[j, source0 + c] += s * vector[c] * (h.dtype.type(1) if v > zero else leak)
