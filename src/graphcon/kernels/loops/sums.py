"""Sums over the edges of a row and scalar products of two rows, in registers."""

from graphcon.kernels.loops._jit import index, inlined
from graphcon.kernels.loops._lanes import load, plus_product, plus_scaled, store, sum_of, zeros


@inlined
def sum_edges(begin, end, col, slot, through, val, heads, k, mix, g, at, width, add, out, i, to):
    """``out_i = mix * sum of val * g_j`` over the edges of a row, for head k; with `add` to what stands there.

    The columns are `width` ones from `at` on of g, and from `to` on of out. Where `through`, edges are numbered by
    slot.
    """
    stop = at + width
    while at + index(64) <= stop:
        _sum(zeros(g, 64), begin, end, col, slot, through, val, heads, k, mix, g, at, add, out, i, to)
        at, to = at + index(64), to + index(64)
    while at + index(16) <= stop:
        _sum(zeros(g, 16), begin, end, col, slot, through, val, heads, k, mix, g, at, add, out, i, to)
        at, to = at + index(16), to + index(16)
    if at < stop:
        total = out[i]
        if not add:
            for c in range(stop - at):
                total[to + c] = 0
        for q in range(begin, end):
            a, other = mix * val[(index(slot[q]) if through else q) * heads + k], g[index(col[q])]
            for c in range(stop - at):
                total[to + c] += a * other[at + c]


@inlined
def _sum(nothing, begin, end, col, slot, through, val, heads, k, mix, g, at, add, out, i, to):
    total = nothing
    for q in range(begin, end):
        a = val[(index(slot[q]) if through else q) * heads + k]
        total = plus_scaled(total, a, load(total, g, index(col[q]), at))
    before = load(nothing, out, i, to) if add else nothing
    store(plus_scaled(before, mix, total), out, i, to)


@inlined
def product(a, i, at, b, j, to, width):
    """The scalar product of `width` columns of a row of a with those of a row of b."""
    stop, total = at + width, a.dtype.type(0)
    if at + index(32) <= stop:
        wide = zeros(a, 32)
        while at + index(32) <= stop:
            wide = plus_product(wide, load(wide, a, i, at), load(wide, b, j, to))
            at, to = at + index(32), to + index(32)
        total += sum_of(wide)
    if at + index(8) <= stop:
        narrow = zeros(a, 8)
        while at + index(8) <= stop:
            narrow = plus_product(narrow, load(narrow, a, i, at), load(narrow, b, j, to))
            at, to = at + index(8), to + index(8)
        total += sum_of(narrow)
    own, other = a[i], b[j]
    for c in range(stop - at):
        total += own[at + c] * other[to + c]
    return total
