"""The scores of GAT: a part from either end and from the edge, added and put through a leaky ReLU."""

from graphcon.kernels.loops._jit import index, inlined


@inlined
def additive_scores_row(i, begin, end, col, h, heads, target, source, edge, leak, score):
    """``leaky(h_i + h_j + edge)`` per edge and head."""
    own, zero = h[i], h.dtype.type(0)
    for e in range(begin, end):
        other = h[index(col[e])]
        for k in range(heads):
            v = own[target + k] + other[source + k]
            if edge.shape[0] > 0:
                v += edge[e, k]
            score[e * heads + k] = v if v > zero else leak * v


@inlined
def additive_back_row(i, begin, end, col, h, heads, target, source, edge, leak, g, gh, gedge):
    """Takes the gradient of the scores, in place, through the leaky ReLU; sums that of the row's own part."""
    own, gown, zero = h[i], gh[i], h.dtype.type(0)
    for k in range(heads):
        gown[target + k] = zero
    for e in range(begin, end):
        other = h[index(col[e])]
        for k in range(heads):
            v = own[target + k] + other[source + k]
            if edge.shape[0] > 0:
                v += edge[e, k]
            d = g[e * heads + k]
            d = d if v > zero else leak * d
            g[e * heads + k] = d
            gown[target + k] += d
            if gedge.shape[0] > 0:
                gedge[e, k] += d
