"""Sums over the edges of a row and scalar products of two rows, in registers."""

from graphcon.kernels.loops._jit import index, inlined
from graphcon.kernels.loops._lanes import load, store, sum_of, zeros


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
        total = total + a * load(total, g, index(col[q]), at)
    before = load(nothing, out, i, to) if add else nothing
    store(before + mix * total, out, i, to)


@inlined
def sum_and_multiply(begin, end, col, slot, val, sums, k, mix, g, at, width, h, j, to, out, dot, heads):
    """For head k, ``out_j = mix * sum of val * g_i`` over the edges of a row, and per edge ``dot = mix * g_i · h_j``.

    The rows g_i are looked up once for both. The columns are `width` ones from `at` on of g, and from `to` on of h and
    out; edges are numbered by slot, with as many numbers an edge as there are `sums` in val, and `heads` in dot.
    """
    stop, more = at + width, False
    while at + index(32) <= stop:
        _both(zeros(g, 32), begin, end, col, slot, val, sums, k, mix, g, at, h, j, to, out, dot, heads, more)
        at, to, more = at + index(32), to + index(32), True
    while at + index(16) <= stop:
        _both(zeros(g, 16), begin, end, col, slot, val, sums, k, mix, g, at, h, j, to, out, dot, heads, more)
        at, to, more = at + index(16), to + index(16), True
    if at < stop:
        own, total = h[j], out[j]
        for c in range(stop - at):
            total[to + c] = 0
        for q in range(begin, end):
            e, other, d = index(slot[q]), g[index(col[q])], g.dtype.type(0)
            a = mix * val[e * sums + k]
            for c in range(stop - at):
                total[to + c] += a * other[at + c]
                d += own[to + c] * other[at + c]
            dot[e * heads + k] = mix * d + (dot[e * heads + k] if more else g.dtype.type(0))


@inlined
def _both(nothing, begin, end, col, slot, val, sums, k, mix, g, at, h, j, to, out, dot, heads, more):
    total, own = nothing, load(nothing, h, j, to)
    for q in range(begin, end):
        e = index(slot[q])
        other = load(nothing, g, index(col[q]), at)
        total = total + val[e * sums + k] * other
        d = mix * sum_of(own * other)
        dot[e * heads + k] = d + dot[e * heads + k] if more else d
    store(mix * total, out, j, to)


@inlined
def product(a, i, at, b, j, to, width):
    """The scalar product of `width` columns of a row of a with those of a row of b."""
    stop, total = at + width, a.dtype.type(0)
    if at + index(32) <= stop:
        wide = zeros(a, 32)
        while at + index(32) <= stop:
            wide = wide + load(wide, a, i, at) * load(wide, b, j, to)
            at, to = at + index(32), to + index(32)
        total += sum_of(wide)
    if at + index(8) <= stop:
        narrow = zeros(a, 8)
        while at + index(8) <= stop:
            narrow = narrow + load(narrow, a, i, at) * load(narrow, b, j, to)
            at, to = at + index(8), to + index(8)
        total += sum_of(narrow)
    own, other = a[i], b[j]
    for c in range(stop - at):
        total += own[at + c] * other[to + c]
    return total
