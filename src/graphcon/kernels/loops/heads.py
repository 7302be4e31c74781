"""All heads of an edge at once: where heads are narrow, a loop over the few columns of each costs more than they do.

Numbers per edge and head stand side by side, edge by edge. Heads of 8 or 16 columns that fill 64 are taken together;
`few` has as many lanes as there are such heads. All others are taken one by one: every width takes time to compile.
"""

from graphcon.kernels.loops._jit import index, inlined
from graphcon.kernels.loops._lanes import load, repeat, store, sums_of, zeros
from graphcon.kernels.loops.sums import product, sum_and_multiply, sum_edges

_ROW = index(0)  # an array of one dimension is a matrix of one row


@inlined
def multiply_heads(begin, end, col, h, i, at, to, heads, width, out):
    """Per edge and head the product of `width` columns of row i, from `at` on, with those of row j, from `to` on."""
    if width == 16 and heads % 4 == 0:
        _multiply(zeros(h, 4), begin, end, col, h, i, at, to, heads, width, out)
    elif width == 8 and heads % 8 == 0:
        _multiply(zeros(h, 8), begin, end, col, h, i, at, to, heads, width, out)
    else:
        for e in range(begin, end):
            j = index(col[e])
            for k in range(heads):
                out[e * heads + k] = product(h, i, at + k * width, h, j, to + k * width, width)


@inlined
def _multiply(few, begin, end, col, h, i, at, to, heads, width, out):
    k, many = index(0), zeros(h, 64)
    while k < heads:
        own = load(many, h, i, at + k * width)
        for e in range(begin, end):
            other = load(many, h, index(col[e]), to + k * width)
            store(sums_of(own * other, few), out, _ROW, e * heads + k)
        k += index(64) // width


@inlined
def sum_heads(begin, end, col, slot, through, val, heads, mix, g, at, width, out, i, to):
    """``out_i = mix * sum of val * g_j`` over the edges of a row, head by head; see `sum_edges`."""
    if width == 16 and heads % 4 == 0:
        _sum(zeros(g, 4), begin, end, col, slot, through, val, heads, mix, g, at, width, out, i, to)
    elif width == 8 and heads % 8 == 0:
        _sum(zeros(g, 8), begin, end, col, slot, through, val, heads, mix, g, at, width, out, i, to)
    else:
        for k in range(heads):
            first, into = at + k * width, to + k * width
            sum_edges(begin, end, col, slot, through, val, heads, k, mix, g, first, width, False, out, i, into)


@inlined
def _sum(few, begin, end, col, slot, through, val, heads, mix, g, at, width, out, i, to):
    k = index(0)
    while k < heads:
        total = zeros(g, 64)
        for q in range(begin, end):
            e = index(slot[q]) if through else q
            weights = repeat(load(few, val, _ROW, e * heads + k), total)
            total = total + weights * load(total, g, index(col[q]), at + k * width)
        store(mix * total, out, i, to + k * width)
        k += index(64) // width


@inlined
def sum_and_multiply_heads(begin, end, col, slot, val, heads, mix, g, at, width, h, j, to, out, dot):
    """Both of the above over the same edges, whose rows g_i are looked up once; see `sum_and_multiply`."""
    if width == 16 and heads % 4 == 0:
        _both(zeros(g, 4), begin, end, col, slot, val, heads, mix, g, at, width, h, j, to, out, dot)
    elif width == 8 and heads % 8 == 0:
        _both(zeros(g, 8), begin, end, col, slot, val, heads, mix, g, at, width, h, j, to, out, dot)
    else:
        for k in range(heads):
            first, into = at + k * width, to + k * width
            sum_and_multiply(begin, end, col, slot, val, heads, k, mix, g, first, width, h, j, into, out, dot, heads)


@inlined
def _both(few, begin, end, col, slot, val, heads, mix, g, at, width, h, j, to, out, dot):
    k, many = index(0), zeros(g, 64)
    while k < heads:
        total, own = many, load(many, h, j, to + k * width)
        for q in range(begin, end):
            place = index(slot[q]) * heads + k
            other = load(many, g, index(col[q]), at + k * width)
            total = total + repeat(load(few, val, _ROW, place), many) * other
            store(mix * sums_of(own * other, few), dot, _ROW, place)
        store(mix * total, out, j, to + k * width)
        k += index(64) // width
