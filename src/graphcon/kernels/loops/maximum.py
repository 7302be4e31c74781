"""The largest value among the neighbours."""

from numba import prange

from graphcon.kernels.loops._jit import index, parallel_jit


@parallel_jit
def maximum(ptr, col, x, out, ties):
    """The maximum over a row's edges per channel, zero where there are none, and how many edges have it."""
    for i in prange(ptr.shape[0] - 1):
        top, count, width = out[i], ties[i], index(x.shape[1])
        for c in range(width):
            top[c] = count[c] = 0
        for q in range(ptr[i], ptr[i + 1]):
            other, first = x[col[q]], q == ptr[i]
            for c in range(width):
                v = other[c]
                if first or v > top[c] or v != v:  # as torch: one that is no number is the largest
                    top[c] = v
                    count[c] = 1
                elif v == top[c]:
                    count[c] += 1


@parallel_jit
def maximum_back(tptr, trow, x, out, ties, g, gx):
    """Shares the gradient of a maximum among all edges that have it, as torch does."""
    for j in prange(tptr.shape[0] - 1):
        own, gown, width = x[j], gx[j], index(x.shape[1])
        for c in range(width):
            gown[c] = 0
        for q in range(tptr[j], tptr[j + 1]):
            i = trow[q]
            top, count, gi = out[i], ties[i], g[i]
            for c in range(width):
                if own[c] == top[c]:
                    gown[c] += gi[c] / count[c]
                elif top[c] != top[c]:  # as torch: nobody has what is no number, and all are told
                    gown[c] += top[c]
