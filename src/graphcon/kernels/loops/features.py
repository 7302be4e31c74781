"""What the features of an edge add, head by head, where they are added to a key and a value (TransformerConv)."""

from graphcon.kernels.loops._jit import inlined


@inlined
def add_products_row(i, begin, end, a, heads, at, width, concat, mix, edge, out):
    """Adds the scalar products of a row of a with the features of its edges, per head."""
    own = a[i]
    for e in range(begin, end):
        given = edge[e]
        for k in range(heads):
            to = k * width
            first = at + to if concat else at
            s = a.dtype.type(0)
            for c in range(width):
                s += own[first + c] * given[to + c]
            out[e * heads + k] += mix * s


@inlined
def add_sums_row(i, begin, end, val, heads, mix, edge, width, concat, out, at):
    """Adds the sum of ``val * edge`` over the edges of a row; heads stand side by side or are added up."""
    total = out[i]
    for e in range(begin, end):
        given = edge[e]
        for k in range(heads):
            a, first = mix * val[e * heads + k], k * width
            to = at + first if concat else at
            for c in range(width):
                total[to + c] += a * given[first + c]


@inlined
def add_back_row(i, begin, end, val, heads, mix, a, at, width, concat, gedge):
    """Adds ``val * a_i`` to the gradient of the features: both of the above the other way."""
    own = a[i]
    for e in range(begin, end):
        ge = gedge[e]
        for k in range(heads):
            s, to = mix * val[e * heads + k], k * width
            first = at + to if concat else at
            for c in range(width):
                ge[to + c] += s * own[first + c]
