"""What the features of an edge add, head by head, where they are added to a key and a value (TransformerConv)."""

from numba import prange

from graphcon.kernels.loops._jit import index, parallel_jit


@parallel_jit
def add_products(ptr, a, a0, width, concat, mix, edge, out):
    """Adds the scalar products of a row of a with the features of its edges, per head."""
    for i in prange(ptr.shape[0] - 1):
        own, heads, wide, left = a[i], index(out.shape[1]), index(width), index(a0)
        for e in range(ptr[i], ptr[i + 1]):
            given, results = edge[e], out[e]
            for k in range(heads):
                to = k * wide
                at = left + to if concat else left
                s = a.dtype.type(0)
                for c in range(wide):
                    s += own[at + c] * given[to + c]
                results[k] += mix * s


@parallel_jit
def add_sums(ptr, val, edge, width, out, o0):
    """Adds the sum of ``val * edge`` over the edges of a row, per head."""
    for i in prange(ptr.shape[0] - 1):
        total, heads, wide, start = out[i], index(val.shape[1]), index(width), index(o0)
        for e in range(ptr[i], ptr[i + 1]):
            given, weights = edge[e], val[e]
            for k in range(heads):
                a, at = weights[k], k * wide
                for c in range(wide):
                    total[start + at + c] += a * given[at + c]


@parallel_jit
def add_back(ptr, val, mix, a, a0, width, concat, gedge):
    """Adds ``val * a_i`` to the gradient of the features: both of the above the other way."""
    for i in prange(ptr.shape[0] - 1):
        own, heads, wide, left = a[i], index(val.shape[1]), index(width), index(a0)
        for e in range(ptr[i], ptr[i + 1]):
            ge, weights = gedge[e], val[e]
            for k in range(heads):
                s, to = mix * weights[k], k * wide
                at = left + to if concat else left
                for c in range(wide):
                    ge[to + c] += s * own[at + c]
