"""The walk from end to end, forward and back, without Python in between: a step is one product and one pass."""

import numpy as np
from numba import types
from numba.extending import overload

from graphcon.kernels.loops import attention, gated
from graphcon.kernels.loops._gemm import add_product, multiply
from graphcon.kernels.loops._jit import inlined, jit
from graphcon.kernels.loops._threads import get_threads, set_threads
from graphcon.kernels.loops.aggregate import add_edge_products, aggregate_and_step, gather
from graphcon.kernels.loops.oscillator import add_coefficients, add_columns, add_rows, fill_rows, step_back

# Sums over all nodes are taken in this many blocks, whatever the number of threads.
BLOCKS = 64


@jit
def forward(
    threads, graph, gemm, layout, concat, numbers, drops, act, bare, fixed, attends, gates, ends, seeds, edge, theta, x,
    y, steps, saved, kept, work, room, last_x, last_y,
):  # fmt: skip
    """Runs the steps. What comes out of a step goes into the stacks, in turn where they are shorter.

    Args:
        threads: How many share the work.
        graph: ptr, col, tptr, trow and tslot.
        gemm: The address of the product of matrices.
        layout: heads, and the columns of H: target, source, key, value, width, skip; see `Plan`.
        concat: See there.
        numbers: dt, mix, leak, act_leak, and the scales of dropout on the force and on the edges.
        drops: The thresholds of both.
        act: The code of the activation.
        bare: Whether there is no weight, and H is the state.
        fixed: True for weights that are given; else None. Of this and the next two only what is not None is compiled.
        attends: For weights that depend on the state: whether they are additive, dynamic or dot, True or None, and
            whether heads are averaged; else None.
        gates: For gates: whether they are divided by their sum; else None.
        ends: Where weight, bias, alpha, gamma, shift and vector of a layer end in theta, and where the next begins.
        seeds: Two a step, or none.
        edge: What is given per slot.
        theta: The parameters of the layer that all steps share, or of every step's, the last step first.
        x: The state.
        y: The velocity.
        steps: How many.
        saved: What the backward pass needs, in one block: stacks of states, H, slopes, attentions and velocities.
        kept: Where each of them begins in it, its rows and columns; no rows where it does not need them.
        work: Room for those that it does not need, for the edges' weights in the sum where these are not the
            attention, and for the halves of additive scores.
        room: Where each of them is.
        last_x: Where the last state goes.
        last_y: Where the last velocity goes.
    """
    ptr, col = graph[0], graph[1]
    heads, target, source, key, value, width, skip = layout
    dt, mix, leak, act_leak, scale, edge_scale = numbers
    dropped, edge_dropped = drops
    nodes, channels = x.shape
    xs = _stack(saved, kept[0], work, room[0])
    hs = _stack(saved, kept[1], work, room[1])
    slopes = _stack(saved, kept[2], work, room[2])
    ys = _stack(saved, kept[4], work, room[4])
    threads_before = get_threads()
    set_threads(threads)
    for n in range(steps):
        weight, bias, alpha, gamma, shift, vector = _parameters(theta, n, ends, channels)
        h = x if bare else _matrix(hs, n, nodes, weight.shape[0])
        if shift.shape[0] > 0:
            fill_rows(h, shift)
            add_product(gemm, x, False, weight, True, h)
        elif not bare:
            multiply(gemm, x, weight, True, h)
        xo = last_x if n == steps - 1 else _matrix(xs, n, nodes, channels)
        yo = last_y if n == steps - 1 else _matrix(ys, n, nodes, channels)
        slope = _matrix(slopes, n, nodes, channels)
        seed = _seed(seeds, n, 0)
        if attends is not None:
            additive, dynamic, dot, mean = attends
            attentions, val = _stack(saved, kept[3], work, room[3]), _cut(work, room[5])[0]
            halves = _halves(additive, h, source, work, room[6])
            attention.attend_and_step(
                ptr, col, h, halves, dynamic, dot, heads, target, source, key, edge, vector, leak,
                attentions[n % attentions.shape[0]], edge_dropped, edge_scale, _seed(seeds, n, 1), mean, val, mix,
                value, width, concat, skip, bias, x, y, alpha, gamma, dt, act, act_leak, dropped, scale, seed, xo, yo,
                slope,
            )  # fmt: skip
        if gates is not None:
            gated.gate_and_step(
                ptr, col, h, edge, gates[0], leak, skip, bias, x, y, alpha, gamma, dt, act, act_leak, dropped, scale,
                seed, xo, yo, slope,
            )  # fmt: skip
        if fixed is not None:
            aggregate_and_step(
                ptr, col, edge.reshape(-1), heads, mix, h, value, width, concat, skip, bias, x, y, alpha, gamma, dt,
                act, act_leak, dropped, scale, seed, xo, yo, slope,
            )  # fmt: skip
        x, y = xo, yo
    set_threads(threads_before)


@jit
def backward(
    threads, graph, gemm, layout, concat, numbers, drops, act, bare, fixed, attends, gates, ends, seeds, edge, theta, x,
    y, steps, saved, kept, work, room, need_coefficients, need_state, gx, gy, gtheta, gedge,
):  # fmt: skip
    """Takes the gradients of the results to those of the arguments, all in place.

    Args:
        threads: This and what follows up to kept: see `forward`.
        graph: See there.
        gemm: See there.
        layout: See there.
        concat: See there.
        numbers: See there.
        drops: See there.
        act: See there.
        bare: See there.
        fixed: See there.
        attends: See there.
        gates: See there.
        ends: See there.
        seeds: See there.
        edge: See there.
        theta: See there.
        x: See there.
        y: See there.
        steps: See there.
        saved: See there.
        kept: See there.
        work: Room for the gradients of H and of the coupling (which are columns of the former where there is a linear
            term), for the edges' weights in the sum, the gradients of the scores, the halves of these, the gradients
            of the vector per node, and twice for what sources need of gates.
        room: Where each of them is.
        need_coefficients: Whether the gradients of alpha and gamma are asked for.
        need_state: Whether those of the first state are.
        gx: The gradient of the state.
        gy: That of the velocity.
        gtheta: Those of the parameters, to which is added.
        gedge: That of edge; without rows where nobody asks for it.
    """
    ptr, col, tptr, trow, tslot = graph
    heads, target, source, key, value, width, skip = layout
    dt, mix, leak, edge_scale = numbers[0], numbers[1], numbers[2], numbers[5]
    nodes, channels = x.shape
    xs, hs, slopes, ys = _cut(saved, kept[0]), _cut(saved, kept[1]), _cut(saved, kept[2]), _cut(saved, kept[4])
    gh = _cut(work, room[0])
    gz, gz0 = (_cut(work, room[1]), 0) if skip < 0 else (gh, skip)
    threads_before = get_threads()
    set_threads(threads)
    for m in range(steps):
        n = steps - 1 - m
        weight, _, alpha, gamma, _, vector = _parameters(theta, n, ends, channels)
        gweight, gbias, galpha, ggamma, gshift, gvector = _parameters(gtheta, n, ends, channels)
        now = _matrix(xs, n - 1, nodes, channels) if n > 0 else x
        if need_coefficients:
            before = _matrix(ys, n - 1, nodes, channels) if n > 0 else y
            add_coefficients(gx, gy, now, before, dt, galpha, ggamma)
        slope = _matrix(slopes, n, nodes, channels)
        summed = step_back(gx, gy, slope, alpha, gamma, dt, gz, gz0, BLOCKS)
        if gbias.shape[0] > 1:
            add_columns(gz, gz0, gbias)
        else:
            _add_blocks(gbias[0], summed)
        h = now if bare else _matrix(hs, n, nodes, weight.shape[0]) if hs.shape[0] > 0 else gh
        if attends is not None:
            additive, dynamic, dot, mean = attends
            given, seed = _cut(saved, kept[3])[n], _seed(seeds, n, 1)
            val, g, gvectors = _cut(work, room[2])[0], _cut(work, room[3])[0], _cut(work, room[5])
            halves = _halves(additive, h, source, work, room[4])
            if val.shape[0] > 0:
                attention.drop(ptr, heads, given, drops[1], edge_scale, seed, mean, val)
            weights = val if val.shape[0] > 0 else given
            attention.attend_back_values(
                tptr, trow, tslot, h, heads, weights, mean, mix, value, width, concat, gz, gz0, g, gh
            )
            attention.attend_back_target(
                ptr, col, h, halves, dynamic, dot, heads, target, source, key, edge, vector, leak, given, drops[1],
                edge_scale, seed, mean, val, mix, width, concat, gz, gz0, g, gh, gvectors, gedge,
            )  # fmt: skip
            attention.attend_back_source(
                tptr, trow, tslot, h, halves, dynamic, dot, heads, target, source, key, edge, vector, leak, g, gh
            )
            if gvector.shape[0] > 0:
                add_rows(gvectors, gvector)
        if gates is not None:
            means, shares = _cut(work, room[6]), _cut(work, room[7])
            gated.gate_back_target(ptr, col, h, edge, gates[0], leak, gz, gz0, gh, means, shares, gedge)
            gated.gate_back_source(tptr, trow, tslot, h, edge, means, shares, gh)
        if fixed is not None:
            gather(tptr, trow, tslot, edge.reshape(-1), heads, mix, gz, gz0, width, concat, gh, value)
            if gedge.shape[0] > 0:
                add_edge_products(ptr, col, gz, gz0, h, value, heads, width, concat, mix, gedge.reshape(-1))
        if gshift.shape[0] > 0:
            add_rows(gh, gshift)
        if bare:
            add_columns(gh, 0, gx)
        else:
            add_product(gemm, gh, True, now, False, gweight)
            if n > 0 or need_state:
                add_product(gemm, gh, False, weight, False, gx)
    set_threads(threads_before)


@inlined
def _parameters(theta, n, ends, channels):
    """weight, bias, alpha, gamma, shift and vector of step n, as :meth:`Plan.split` has them."""
    layers = max(theta.shape[0] // ends[6], 1)
    theta = theta[(layers - 1 - n % layers) * ends[6] :]
    weight = theta[: ends[0]].reshape(-1, channels)
    bias = theta[ends[0] : ends[1]].reshape(-1, channels)
    alpha, gamma = theta[ends[1] : ends[2]], theta[ends[2] : ends[3]]
    return weight, bias, alpha, gamma, theta[ends[3] : ends[4]], theta[ends[4] : ends[5]]


@inlined
def _cut(block, place):
    """The matrix that is there."""
    begin, rows, columns = place
    return block[begin : begin + rows * columns].reshape(rows, columns)


def _halves(additive, h, source, block, place):
    """The halves of additive scores, put apart; None for others."""
    raise NotImplementedError  # never called as it is: what is None is not compiled, nor may it be optional


@overload(_halves)
def _(additive, h, source, block, place):
    if isinstance(additive, types.NoneType):
        return lambda additive, h, source, block, place: None

    def put_apart(additive, h, source, block, place):
        halves = _cut(block, place)
        attention.take_columns(h, source, halves)
        return halves

    return put_apart


@inlined
def _stack(saved, kept, work, room):
    """What is kept, or else the room in its place."""
    return _cut(saved, kept) if kept[1] > 0 else _cut(work, room)


@inlined
def _matrix(stack, n, rows, columns):
    """The n-th matrix of a stack, which starts again where it ends."""
    return stack[n % stack.shape[0]][: rows * columns].reshape(rows, columns)


@inlined
def _seed(seeds, n, which):
    return seeds[n, which] if seeds.shape[0] > 0 else np.int64(0)


@inlined
def _add_blocks(total, partial):
    """Adds the sums of all blocks, one after the other."""
    for c in range(total.shape[0]):
        s = total.dtype.type(0)
        for b in range(partial.shape[0]):
            s += partial[b, c]
        total[c] += s
