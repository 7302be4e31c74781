"""The scores of GATv2: a vector over the leaky ReLU of both ends and the edge together."""

from graphcon.kernels.loops._jit import index, inlined


@inlined
def dynamic_scores_row(i, begin, end, col, h, heads, target, source, width, edge, vector, leak, score):
    """``vector · leaky(h_i + h_j + edge)`` per edge and head."""
    own, zero = h[i], h.dtype.type(0)
    for e in range(begin, end):
        other, given = h[index(col[e])], edge[e]
        for k in range(heads):
            s, at = zero, k * width
            for c in range(at, at + width):
                v = own[target + c] + other[source + c]
                if edge.shape[0] > 0:
                    v += given[c]
                s += vector[c] * (v if v > zero else leak * v)
            score[e * heads + k] = s


@inlined
def dynamic_back_target_row(
    i, begin, end, col, h, heads, target, source, width, edge, vector, leak, g, gh, gvector, gedge
):
    """From the gradient of the scores to that of the row's own end, to the row's part in that of the vector, and where
    it is wanted to that of the edges.
    """
    own, gown, gpart, zero, one = h[i], gh[i], gvector[i], h.dtype.type(0), h.dtype.type(1)
    for c in range(heads * width):
        gown[target + c] = zero
        gpart[c] = zero
    for e in range(begin, end):
        other, given, gfeature = h[index(col[e])], edge[e], gedge[e]
        for k in range(heads):
            s, at = g[e * heads + k], k * width
            for c in range(at, at + width):
                v = own[target + c] + other[source + c]
                if edge.shape[0] > 0:
                    v += given[c]
                d = s * vector[c] * (one if v > zero else leak)
                gown[target + c] += d
                gpart[c] += s * (v if v > zero else leak * v)
                if gedge.shape[0] > 0:
                    gfeature[c] += d


@inlined
def dynamic_back_source_row(j, begin, end, trow, tslot, h, heads, target, source, width, edge, vector, leak, g, gh):
    """Adds the gradient of the scores to that of the other end, which has one from the values already."""
    own, gown, zero, one = h[j], gh[j], h.dtype.type(0), h.dtype.type(1)
    for q in range(begin, end):
        e = index(tslot[q])
        other, given = h[index(trow[q])], edge[e]
        for k in range(heads):
            s, at = g[e * heads + k], k * width
            for c in range(at, at + width):
                v = own[source + c] + other[target + c]
                if edge.shape[0] > 0:
                    v += given[c]
                gown[source + c] += s * vector[c] * (one if v > zero else leak)
