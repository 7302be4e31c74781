"""The walk on compiled loops: forward and backward, step by step, without autograd in between."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from graphcon.kernels.counter import threshold
from graphcon.kernels.plan import ACTIVATIONS, Parameters, Plan
from graphcon.kernels.workspace import scratch

# Sums over all nodes are taken in this many blocks, whatever the number of threads.
BLOCKS = 64


class Loops:
    """The loops with what they need in every step of one walk.

    Args:
        plan: What is computed.
        parameters: The parameters.
        edge: A number per slot and head, where the plan has it.
        graph: ptr, col, tptr, trow and tslot.
        seeds: Two seeds a step, where there is dropout.
    """

    def __init__(self, plan: Plan, parameters: Parameters, edge: Tensor, graph: Sequence[Tensor], seeds: Tensor):
        from graphcon.kernels.loops import additive, aggregate, dynamic, features, gated, oscillator, softmax

        self.additive, self.aggregate, self.dynamic, self.features = additive, aggregate, dynamic, features
        self.gated, self.oscillator, self.softmax = gated, oscillator, softmax
        self.plan, self.edge = plan, edge.numpy()
        # What is added to the values: features of edges, in a layer that adds them to keys and values.
        self.added = self.edge if plan.kind == "dot" else self.edge[:0]
        self.ptr, self.col, self.tptr, self.trow, self.tslot = (part.numpy() for part in graph)
        self.seeds = seeds.numpy()
        self.bias, self.alpha, self.gamma = parameters.bias.numpy(), parameters.alpha.numpy(), parameters.gamma.numpy()
        self.vector = parameters.vector.numpy()
        number = self.bias.dtype.type
        self.dt, self.mix, self.leak, self.one = number(plan.dt), number(plan.mix), number(plan.leak), number(1)
        self.act, self.act_leak = ACTIVATIONS[plan.act], number(plan.act_leak)
        self.dropped, self.scale = threshold(plan.dropout), number(1 / (1 - plan.dropout))
        self.edge_dropped, self.edge_scale = threshold(plan.edge_dropout), number(1 / (1 - plan.edge_dropout))
        self.channels = len(self.bias)
        self.skip_at = plan.skip_at if plan.skip else -1

    def seed(self, n: int, which: int) -> int:
        return int(self.seeds[n, which]) if len(self.seeds) else 0

    def step(self, n: int, h: Any, attention: Any, val: Any, x: Any, y: Any, xo: Any, yo: Any, slope: Any) -> None:
        """From H to the next state. Leaves the attention and the derivative of the activation for the way back."""
        finish = (
            self.bias, x, y, self.alpha, self.gamma, self.dt, self.act, self.act_leak, self.dropped, self.scale,
            self.seed(n, 0), xo, yo, slope,
        )  # fmt: skip
        if self.plan.gated:
            mean = self.plan.kind == "gated-mean"
            self.gated.gate_and_step(self.ptr, self.col, h, self.edge, mean, self.leak, self.skip_at, *finish)
            return
        if self.plan.attends:
            self.attend(n, h, attention, val)
        self.aggregate.aggregate_and_step(
            self.ptr, self.col, val, self.added, self.mix, h, self.plan.value_at, self.plan.width, self.plan.concat,
            self.skip_at, *finish,
        )  # fmt: skip

    def attend(self, n: int, h: Any, attention: Any, val: Any) -> None:
        """Scores, softmax and dropout."""
        plan, graph = self.plan, (self.ptr, self.col)
        if plan.kind == "additive":
            self.additive.additive_scores(*graph, h, plan.target_at, plan.source_at, self.edge, self.leak, attention)
        elif plan.kind == "dynamic":
            self.dynamic.dynamic_scores(
                *graph, h, plan.target_at, plan.source_at, plan.width, self.edge, self.vector, self.leak, attention
            )
        else:
            self.aggregate.edge_products(
                *graph, h, plan.target_at, h, plan.source_at, plan.key, True, self.one, attention, False
            )
            if len(self.added):
                self.features.add_products(
                    self.ptr, h, plan.target_at, plan.key, True, self.one, self.added, attention
                )  # fmt: skip
        mean = plan.kind == "dot-mean"
        self.softmax.softmax(self.ptr, attention, self.edge_dropped, self.edge_scale, self.seed(n, 1), mean, val)

    def back(self, n: int, h: Any, attention: Any, gz: Any, at: int, gh: Any, work: "_Work") -> None:
        """From the gradient of the coupling, the columns from `at` on of gz, to that of H."""
        plan = self.plan
        if plan.gated:
            mean = plan.kind == "gated-mean"
            self.gated.gate_back_target(
                self.ptr, self.col, h, self.edge, mean, self.leak, gz, at, gh, work.top, work.bottom, work.gedge
            )
            self.gated.gate_back_source(
                self.tptr, self.trow, self.tslot, h, self.edge, gz, at, work.top, work.bottom, gh
            )  # fmt: skip
            return
        val = self.edge
        if plan.attends:
            val = self.replay(n, attention, work)
        self.aggregate.gather(
            self.tptr, self.trow, self.tslot, True, val, self.mix, gz, at, plan.width, plan.concat, gh, plan.value_at
        )
        if not plan.attends and not len(work.gedge):
            return
        to, add = (work.gval, False) if plan.attends else (work.gedge, True)
        self.aggregate.edge_products(
            self.ptr, self.col, gz, at, h, plan.value_at, plan.width, plan.concat, self.mix, to, add
        )
        if len(self.added):
            self.features.add_products(
                self.ptr, gz, at, plan.width, plan.concat, self.mix, self.added, work.gval
            )  # fmt: skip
        if plan.attends:
            self.attend_back(n, h, attention, gh, work)
        if len(self.added) and len(work.gedge):
            self.features.add_back(self.ptr, val, self.mix, gz, at, plan.width, plan.concat, work.gedge)

    def replay(self, n: int, attention: Any, work: "_Work") -> Any:
        """What every edge had in the sum: the attention, less what was dropped."""
        if not self.edge_dropped and self.plan.kind != "dot-mean":
            return attention
        mean, seed = self.plan.kind == "dot-mean", self.seed(n, 1)
        self.softmax.drop(self.ptr, attention, self.edge_dropped, self.edge_scale, seed, mean, work.val)
        return work.val

    def attend_back(self, n: int, h: Any, attention: Any, gh: Any, work: "_Work") -> None:
        plan, g = self.plan, work.gscore
        mean = plan.kind == "dot-mean"
        self.softmax.softmax_back(
            self.ptr, attention, work.gval, self.edge_dropped, self.edge_scale, self.seed(n, 1), mean, g
        )
        target, source = plan.target_at, plan.source_at
        if plan.kind == "additive":
            self.additive.additive_back(self.ptr, self.col, h, target, source, self.edge, self.leak, g, gh)
            self.aggregate.edge_sums(self.tptr, self.tslot, True, g, gh, source)
            if len(work.gedge):
                work.gedge += g
        elif plan.kind == "dynamic":
            common = (h, target, source, plan.width, self.edge, self.vector, self.leak, g, gh)
            self.dynamic.dynamic_back_target(self.ptr, self.col, *common, work.gvector, work.gedge)
            self.dynamic.dynamic_back_source(self.tptr, self.trow, self.tslot, *common)
        else:
            width = plan.key
            self.aggregate.gather(
                self.ptr, self.col, self.tslot, False, g, self.one, h, source, width, True, gh, target
            )
            self.aggregate.gather(
                self.tptr, self.trow, self.tslot, True, g, self.one, h, target, width, True, gh, source
            )
            if len(self.added):
                self.features.add_sums(self.ptr, g, self.added, width, gh, target)
            if len(self.added) and len(work.gedge):
                self.features.add_back(self.ptr, g, self.one, h, target, width, True, work.gedge)

    def sum_rows(self, g: Any, at: int, into: Tensor, partial: Tensor) -> None:
        """Adds the sum over all nodes of as many columns of g as `into` is long."""
        part = partial[: BLOCKS * len(into)].view(BLOCKS, len(into))
        self.oscillator.column_sums(g, at, part.numpy())
        into += part.sum(0)


class _Work:
    """What the backward pass needs besides, made once for all steps."""

    def __init__(self, plan: Plan, x: Tensor, slots: int, gedge: Any):
        def numpy(*size: int) -> Any:
            return scratch(x, *size).numpy()

        nodes, sums = len(x), plan.sums
        self.gedge = gedge  # summed over all steps; without rows where nobody asks for it
        self.gval = numpy(slots, sums) if plan.attends else None
        # Slots that are not used must not bring anything into the gradient of the edges.
        self.gscore = x.new_zeros(slots, plan.heads).numpy() if plan.attends else None
        self.val = numpy(slots, sums) if plan.attends else None
        self.gvector_rows = scratch(x, nodes, plan.heads * plan.width) if plan.kind == "dynamic" else None
        self.gvector = None if self.gvector_rows is None else self.gvector_rows.numpy()
        self.top = numpy(nodes, plan.width) if plan.gated else None
        self.bottom = numpy(nodes, plan.width) if plan.gated else None


def padded(rows: int, columns: int) -> int:
    """A length that keeps every state in a stack aligned, so that products of it come out the same wherever it is."""
    return (rows * columns + 15) // 16 * 16


def matrices(stack: Tensor, rows: int, columns: int) -> Tensor:
    """The matrices of a stack ``[depth, padded]``: ``[depth, rows, columns]``."""
    return stack.as_strided((stack.size(0), rows, columns), (stack.size(1), columns, 1))


def forward(
    x: Tensor, y: Tensor, loops: Loops, parameters: Parameters, steps: int, saved: Sequence[Tensor]
) -> tuple[Tensor, Tensor]:
    """Runs the steps. What is saved goes into the stacks given: states, H, slopes, attention, velocities.

    A stack of length zero is not wanted; one place is then used for all steps.
    """
    plan, (nodes, channels) = loops.plan, x.shape
    columns = plan.columns(channels)
    weight = parameters.weight.t()
    xs, hs, slopes, attentions, ys = saved
    slots, heads = len(loops.col), plan.heads if plan.attends else 0

    def place(stack: Tensor, depth: int, rows: int, columns: int) -> Tensor:
        """Where results of steps go: into the stack, or in turn into `depth` places if it is not wanted."""
        kept = stack if stack.size(0) else scratch(x, depth, padded(rows, columns))
        return matrices(kept, rows, columns)

    states, hidden = place(xs, 2, nodes, channels), place(hs, 1, nodes, columns)
    state, states_np, h, h_np = states.unbind(0), states.numpy(), hidden.unbind(0), hidden.numpy()
    velocities_np = place(ys, 2, nodes, channels).numpy()
    slope_np = place(slopes, 1, nodes, channels).numpy()
    attention_np = place(attentions, 1, slots, heads).numpy()
    separate = plan.attends and (plan.kind == "dot-mean" or plan.edge_dropout > 0)
    val = scratch(x, slots, plan.sums).numpy() if separate else None
    now, x_np, y_np = x, x.numpy(), y.numpy()
    last_x, last_y = torch.empty_like(x), torch.empty_like(y)
    for n in range(steps):
        at = n % len(h)
        if plan.shift:
            torch.addmm(parameters.shift, now, weight, out=h[at])
        else:
            torch.mm(now, weight, out=h[at])
        ends = n == steps - 1
        xo = last_x.numpy() if ends else states_np[n % len(state)]
        yo = last_y.numpy() if ends else velocities_np[n % len(velocities_np)]
        attention = attention_np[n % len(attention_np)]
        weights = loops.edge if not plan.attends else val if separate else attention
        loops.step(n, h_np[at], attention, weights, x_np, y_np, xo, yo, slope_np[n % len(slope_np)])
        if not ends:
            now, x_np, y_np = state[n % len(state)], xo, yo
    return last_x, last_y


def backward(
    gx: Tensor,
    gy: Tensor,
    gtheta: Tensor,
    gedge: Tensor,
    x: Tensor,
    y: Tensor,
    loops: Loops,
    parameters: Parameters,
    steps: int,
    saved: Sequence[Tensor],
    need_edge: bool,
    need_coefficients: bool,
    need_state: bool,
) -> None:
    """Takes the gradients of the results to those of the arguments, all in place."""
    plan, (nodes, channels) = loops.plan, x.shape
    columns, slots = plan.columns(channels), len(loops.col)
    into = plan.split(gtheta, channels)
    xs, hs, slopes, attentions, ys = saved
    states, velocities = (matrices(stack, nodes, channels).unbind(0) for stack in (xs, ys))
    h_np, slope_np = matrices(hs, nodes, columns).numpy(), matrices(slopes, nodes, channels).numpy()
    attention_np = matrices(attentions, slots, plan.heads if plan.attends else 0).numpy()
    work = _Work(plan, x, slots, gedge.numpy() if need_edge else gedge[:0].numpy())
    gh = scratch(x, nodes, columns)
    gh_np, gx_np, gy_np = gh.numpy(), gx.numpy(), gy.numpy()
    gz, at = (gh_np, plan.skip_at) if plan.skip else (scratch(x, nodes, channels).numpy(), 0)
    partial = x.new_empty(BLOCKS * max(columns, channels, plan.heads * plan.width))
    bias_part = x.new_empty(BLOCKS, channels)
    bias_np = bias_part.numpy()
    for n in reversed(range(steps)):
        now = x if n == 0 else states[n - 1]
        if need_coefficients:
            pull = -plan.dt * (gy + plan.dt * gx)
            loops.sum_rows((pull * (y if n == 0 else velocities[n - 1])).numpy(), 0, into.alpha, partial)
            loops.sum_rows((pull * now).numpy(), 0, into.gamma, partial)
        loops.oscillator.step_back(gx_np, gy_np, slope_np[n], loops.alpha, loops.gamma, loops.dt, gz, at, bias_np)
        into.bias.add_(bias_part.sum(0))
        h = h_np[n] if len(h_np) else gh_np
        loops.back(n, h, attention_np[n] if plan.attends else None, gz, at, gh_np, work)
        if work.gvector_rows is not None:
            loops.sum_rows(work.gvector, 0, into.vector, partial)
        if plan.shift:
            loops.sum_rows(gh_np, 0, into.shift, partial)
        into.weight.addmm_(gh.t(), now)
        if n > 0 or need_state:
            gx.addmm_(gh, parameters.weight)
