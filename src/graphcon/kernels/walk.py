r"""The op behind all couplings that are one matrix product and one pass over the edges: N steps of the oscillator.

On a small graph what costs is the bookkeeping around a step, on a large one the memory between them; so the whole walk
is one op. Its backward pass is another, and keeps what `store` keeps: the states, the derivative of the activation, and
where the weights of the edges depend on the state, H and the attention.

The parameters go in as a vector theta and come out again, unchanged. Whoever cuts a walk into several (`checkpoint`)
hands on what came out: the gradient is then summed step by step from the last to the first however the walk is cut,
and comes out the same to the last bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

import torch
from torch import Tensor

from graphcon.kernels import _compiled, _runtime, plain
from graphcon.kernels.plan import Plan
from graphcon.kernels.workspace import scratch

_NEED_EDGE, _NEED_COEFFICIENTS, _NEED_STATE = 2, 4, 8


@torch.library.custom_op("graphcon::walk", mutates_args=())
def walk(
    x: Tensor,
    y: Tensor,
    theta: Tensor,
    edge: Tensor,
    graph: list[Tensor],
    seeds: Tensor,
    steps: int,
    kind: str,
    heads: int,
    width: int,
    key: int,
    concat: bool,
    skip: bool,
    shift: bool,
    mix: float,
    leak: float,
    edge_dropout: float,
    act: str,
    act_leak: float,
    dropout: float,
    dt: float,
    need: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor, list[Tensor]]:
    """Takes `steps` steps; returns x, y, theta, edge, and what the backward pass needs.

    Args:
        x: The state ``[nodes, channels]``.
        y: The velocity.
        theta: All parameters, see :meth:`Plan.split`.
        edge: A number per slot and head, where the plan has one, else empty.
        graph: ptr, col, tptr, trow and tslot of :class:`graphcon.kernels.structure.Graph`.
        seeds: Two per step, ``[steps, 2]``, where there is dropout, else empty.
        steps: The number of steps.
        kind: This and what follows up to dt: see :class:`Plan`.
        heads: See there.
        width: See there.
        key: See there.
        concat: See there.
        skip: See there.
        shift: See there.
        mix: See there.
        leak: See there.
        edge_dropout: See there.
        act: See there.
        act_leak: See there.
        dropout: See there.
        dt: See there.
        need: What gradients will be asked for: 1 any, 2 that of edge, 4 those of alpha and gamma, 8 those of x and y.
    """
    plan = Plan(kind, heads, width, key, concat, skip, shift, mix, leak, edge_dropout, act, act_leak, dropout, dt)
    saved = _saved(x, graph, steps, plan, need, Tensor.new_zeros)  # what is not written is defined, too
    return *_run(x, y, theta, edge, graph, seeds, steps, plan, saved), saved


def _run(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan,
    saved: Sequence[Tensor],
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    x, y, given = x.contiguous(), y.contiguous(), edge.contiguous()
    if _runtime.compiled(x):
        with _runtime.threads(_work(x, graph, plan)):
            x, y = _compiled.forward(x, y, theta, given, graph, seeds, steps, plan, saved)
    else:
        x, y = _plain_walk(x, y, theta, edge, graph, seeds, steps, plan)
    return x, y, theta.clone(), edge.clone()


@walk.register_fake
def _(x, y, theta, edge, graph, seeds, steps, *args):
    *numbers, need = args
    saved = _saved(x, graph, steps, Plan(*numbers), need, Tensor.new_empty)
    like = torch.contiguous_format
    return (
        torch.empty_like(x, memory_format=like),
        torch.empty_like(y, memory_format=like),
        torch.empty_like(theta),
        torch.empty_like(edge),
        saved,
    )


def _saved(
    x: Tensor, graph: Sequence[Tensor], steps: int, plan: Plan, need: int, empty: Callable[..., Tensor]
) -> list[Tensor]:
    """The stacks of states, H, slopes, attention and velocities; those that nobody will ask for are empty."""
    (nodes, channels), slots = x.shape, graph[1].size(0)
    need_h = plan.attends or plan.gated or bool(need & _NEED_EDGE)

    def stack(wanted: bool, depth: int, rows: int, columns: int) -> Tensor:
        return empty(x, depth if wanted and need else 0, _compiled.padded(rows, columns))

    return [
        stack(True, steps - 1, nodes, channels),
        stack(need_h, steps, nodes, plan.columns(channels)),
        stack(True, steps, nodes, channels),
        stack(plan.attends, steps, slots, plan.heads if plan.attends else 0),
        stack(bool(need & _NEED_COEFFICIENTS), steps - 1, nodes, channels),
    ]


@torch.library.custom_op("graphcon::walk_backward", mutates_args=())
def walk_backward(
    gx: Tensor,
    gy: Tensor,
    gtheta: Tensor,
    gedge: Tensor,
    x: Tensor,
    y: Tensor,
    theta: Tensor,
    edge: Tensor,
    saved: list[Tensor],
    graph: list[Tensor],
    seeds: Tensor,
    steps: int,
    kind: str,
    heads: int,
    width: int,
    key: int,
    concat: bool,
    skip: bool,
    shift: bool,
    mix: float,
    leak: float,
    edge_dropout: float,
    act: str,
    act_leak: float,
    dropout: float,
    dt: float,
    need: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """From the gradients of the results of :func:`walk` to those of x, y, theta and edge.

    What `need` does not ask for is left unfinished.
    """
    plan = Plan(kind, heads, width, key, concat, skip, shift, mix, leak, edge_dropout, act, act_leak, dropout, dt)
    return _run_back(gx, gy, gtheta, gedge, x, y, theta, edge, saved, graph, seeds, steps, plan, need)


def _run_back(
    gx: Tensor, gy: Tensor, gtheta: Tensor, gedge: Tensor, x: Tensor, y: Tensor, theta: Tensor, edge: Tensor,
    saved: Sequence[Tensor], graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan, need: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    gx, gy, gtheta, gedge = (g.clone(memory_format=torch.contiguous_format) for g in (gx, gy, gtheta, gedge))
    x, y, edge = x.contiguous(), y.contiguous(), edge.contiguous()
    if _runtime.compiled(x):
        wanted = gedge if need & _NEED_EDGE else gedge[:0]
        others = bool(need & _NEED_COEFFICIENTS), bool(need & _NEED_STATE)
        with _runtime.threads(_work(x, graph, plan)):
            _compiled.backward(
                gx, gy, gtheta, wanted, x, y, theta, edge, graph, seeds, steps, plan, saved, *others
            )
        return gx, gy, gtheta, gedge
    with _runtime.autograd_inside_an_op():
        inputs = [value.detach().requires_grad_() for value in (x, y, theta, edge)]
        results = _plain_walk(inputs[0], inputs[1], inputs[2], inputs[3], graph, seeds, steps, plan)
        found = torch.autograd.grad(results, inputs, [gx, gy], allow_unused=True)
    gx, gy = (g if g is not None else torch.zeros_like(x) for g in found[:2])
    return gx, gy, _added(gtheta, found[2]), _added(gedge, found[3])


@walk_backward.register_fake
def _(gx, gy, gtheta, gedge, x, y, theta, edge, *args):
    return tuple(torch.empty_like(value, memory_format=torch.contiguous_format) for value in (x, y, theta, edge))


def _setup(ctx: Any, inputs: tuple, output: tuple) -> None:
    x, y, theta, edge, graph, seeds, steps, *numbers, need = inputs
    _keep(ctx, x, y, theta, edge, graph, seeds, steps, Plan(*numbers), need, output[4])
    ctx.others = len(numbers) + 3


def _keep(ctx: Any, x, y, theta, edge, graph, seeds, steps, plan, need, saved) -> None:
    ctx.save_for_backward(x, y, theta, edge, seeds, *graph, *saved)
    ctx.graph, ctx.steps, ctx.plan, ctx.need = len(graph), steps, plan, need
    ctx.set_materialize_grads(False)


def _back_of_op(ctx: Any, *grads: Any):
    def run(*tensors: Any) -> Any:
        plan = ctx.plan
        return walk_backward(*tensors, ctx.steps, *(getattr(plan, field.name) for field in fields(plan)), ctx.need)

    return (*_back(ctx, grads[:4], run), [None] * ctx.graph, *([None] * ctx.others))


walk.register_autograd(_back_of_op, setup_context=_setup)


def _back(ctx: Any, grads: tuple[Tensor | None, ...], run: Callable[..., Any]) -> list[Tensor | None]:
    """The gradients of x, y, theta and edge, by `run`, or in plain torch where they are to have gradients in turn."""
    x, y, theta, edge, seeds, *others = ctx.saved_tensors
    graph, saved = others[: ctx.graph], others[ctx.graph :]
    inputs, wanted = (x, y, theta, edge), ctx.needs_input_grad[:4]
    gx, gy, gtheta, gedge = (
        torch.zeros_like(value) if g is None else g for g, value in zip(grads, inputs, strict=True)
    )  # fmt: skip
    if torch.is_grad_enabled():
        results = _plain_walk(x, y, theta, edge, graph, seeds, ctx.steps, ctx.plan)
        asked = [value for value, want in zip(inputs, wanted, strict=True) if want]
        through = iter(torch.autograd.grad(results, asked, [gx, gy], create_graph=True, allow_unused=True))
        found = [next(through) if want else None for want in wanted]
        found = [*found[:2], _added(gtheta, found[2]), _added(gedge, found[3])]
    else:
        found = run(gx, gy, gtheta, gedge, x, y, theta, edge, saved, graph, seeds)
    return [g if want else None for g, want in zip(found, wanted, strict=True)]


class EagerWalk(torch.autograd.Function):
    """The op as one calls it outside of any tracing: the same functions, without the dispatcher's share of the time.

    On a graph of two hundred nodes the dispatcher and the packing of lists cost more than the steps.
    """

    @staticmethod
    def forward(ctx: Any, x, y, theta, edge, graph, seeds, steps, plan, need):  # pyright: ignore  # autograd Functions take any arguments
        saved = _saved(x, graph, steps, plan, need, scratch)
        if need:
            _keep(ctx, x, y, theta, edge, graph, seeds, steps, plan, need, saved)
        return _run(x, y, theta, edge, graph, seeds, steps, plan, saved)

    @staticmethod
    def backward(ctx: Any, *grads: Any):
        run = partial(_run_back, steps=ctx.steps, plan=ctx.plan, need=ctx.need)

        return (*_back(ctx, grads, run), None, None, None, None, None)


def take_steps(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan,
    need: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """:func:`walk`, by the shortest way."""
    if torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0:
        p = plan
        return walk(
            x, y, theta, edge, list(graph), seeds, steps, p.kind, p.heads, p.width, p.key, p.concat, p.skip, p.shift,
            p.mix, p.leak, p.edge_dropout, p.act, p.act_leak, p.dropout, p.dt, need,
        )[:4]  # fmt: skip
    return EagerWalk.apply(x, y, theta, edge, graph, seeds, steps, plan, need)  # pyright: ignore  # apply has no annotation


def _plain_walk(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan
) -> tuple[Tensor, Tensor]:
    parameters = plan.split(theta, x.size(1))
    for n in range(steps):
        x, y = plain.step(x, y, parameters, edge, graph[0], graph[1], _seeds_of(seeds, n), plan)
    return x, y


def _seeds_of(seeds: Tensor, n: int) -> Tensor:
    return seeds[n] if len(seeds) else seeds.new_zeros(2)


def _added(a: Tensor, b: Tensor | None) -> Tensor:
    return a if b is None else a + b


def _work(x: Tensor, graph: Sequence[Tensor], plan: Plan) -> int:
    return x.numel() + graph[1].size(0) * plan.sums * plan.width
