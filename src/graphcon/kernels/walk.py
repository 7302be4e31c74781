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
from typing import Any

import torch
from torch import Tensor

from graphcon.kernels import _compiled, _runtime, plain
from graphcon.kernels._compiled import NEED_EDGE
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import Graph
from graphcon.kernels.workspace import scratch


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
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
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
    saved = x.new_zeros(_saved_size(x, graph, steps, plan, need))  # what is not written is defined, too
    x, y = _run(x, y, theta, edge, graph, seeds, steps, plan, need, saved)
    return x, y, theta.clone(), edge.clone(), saved


def _run(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan,
    need: int, saved: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    x, y, edge = x.contiguous(), y.contiguous(), edge.contiguous()
    if _runtime.compiled(x):
        threads = _runtime.threads_for(_work(x, graph, plan))
        with _runtime.pool():
            return _compiled.forward(x, y, theta, edge, _arrays(graph), seeds, steps, plan, need, saved, threads)
    return _plain_walk(x, y, theta, edge, graph, seeds, steps, plan)


@walk.register_fake
def _(x, y, theta, edge, graph, seeds, steps, *args):
    *numbers, need = args
    saved = x.new_empty(_saved_size(x, graph, steps, Plan(*numbers), need))
    like = torch.contiguous_format
    return (
        torch.empty_like(x, memory_format=like),
        torch.empty_like(y, memory_format=like),
        torch.empty_like(theta),
        torch.empty_like(edge),
        saved,
    )


def _saved_size(x: Tensor, graph: Sequence[Tensor], steps: int, plan: Plan, need: int) -> int:
    return _compiled.saved_layout(plan, x.size(0), x.size(1), graph[1].size(0), steps, need).length


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
    saved: Tensor,
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
    gx, gy, gtheta, gedge = (g.clone(memory_format=torch.contiguous_format) for g in (gx, gy, gtheta, gedge))
    return _run_back(gx, gy, gtheta, gedge, x, y, theta, edge, saved, graph, seeds, steps, plan, need)


def _run_back(
    gx: Tensor, gy: Tensor, gtheta: Tensor, gedge: Tensor, x: Tensor, y: Tensor, theta: Tensor, edge: Tensor,
    saved: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan, need: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """The gradients given are written to."""
    x, y, edge = x.contiguous(), y.contiguous(), edge.contiguous()
    if _runtime.compiled(x):
        wanted = gedge if need & NEED_EDGE else gedge[:0]
        arrays, threads = _arrays(graph), _runtime.threads_for(_work(x, graph, plan))
        with _runtime.pool():
            _compiled.backward(
                gx, gy, gtheta, wanted, x, y, theta, edge, arrays, seeds, steps, plan, need, saved, threads
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
    ctx.save_for_backward(x, y, theta, edge, seeds, output[4], *graph)
    ctx.steps, ctx.plan, ctx.need, ctx.others = steps, Plan(*numbers), need, len(numbers) + 3
    ctx.set_materialize_grads(False)


def _back_of_op(ctx: Any, *grads: Any):
    def new_zeros(like: Tensor) -> Tensor:
        return torch.zeros_like(like, memory_format=torch.contiguous_format)

    def run(*tensors: Any) -> Any:
        plan = ctx.plan
        return walk_backward(*tensors, ctx.steps, *(getattr(plan, field.name) for field in fields(plan)), ctx.need)

    return (*_back(ctx, grads[:4], run, new_zeros), [None] * 5, *([None] * ctx.others))


walk.register_autograd(_back_of_op, setup_context=_setup)


def _back(
    ctx: Any, grads: tuple[Tensor | None, ...], run: Callable[..., Any], zeros: Callable[[Tensor], Tensor]
) -> list[Tensor | None]:
    """The gradients of x, y, theta and edge, by `run`, or in plain torch where they are to have gradients in turn."""
    x, y, theta, edge, seeds, saved, *graph = ctx.saved_tensors
    graph = graph or ctx.graph
    inputs, wanted = (x, y, theta, edge), ctx.needs_input_grad[:4]
    gx, gy, gtheta, gedge = (zeros(value) if g is None else g for g, value in zip(grads, inputs, strict=True))
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
        saved = scratch(x, _saved_size(x, graph, steps, plan, need))
        if need:
            ctx.save_for_backward(x, y, theta, edge, seeds, saved)
            ctx.graph, ctx.steps, ctx.plan, ctx.need = graph, steps, plan, need  # nobody else has the graph
            ctx.set_materialize_grads(False)
        return *_run(x, y, theta, edge, graph, seeds, steps, plan, need, saved), theta, edge

    @staticmethod
    def backward(ctx: Any, *grads: Any):
        def used_zeros(like: Tensor) -> Tensor:
            return scratch(like, *like.shape).zero_()

        def run(*tensors: Any) -> Any:
            # Gradients that autograd gave are not ours to write to; those that were missing are new.
            whose = zip(tensors[:4], grads, strict=True)
            gx, gy, gtheta, gedge = (g if given is None else scratch(g, *g.shape).copy_(g) for g, given in whose)
            x, y, theta, edge, saved, graph, seeds = tensors[4:]
            return _run_back(
                gx, gy, gtheta, gedge, x, y, theta, edge, saved, graph, seeds, ctx.steps, ctx.plan, ctx.need
            )

        return (*_back(ctx, grads, run, used_zeros), None, None, None, None, None)


def take_steps(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan,
    need: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """:func:`walk`, by the shortest way."""
    if torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0:
        p = plan
        return walk(
            x, y, theta, edge, list(graph[:5]), seeds, steps, p.kind, p.heads, p.width, p.key, p.concat, p.skip,
            p.shift, p.mix, p.leak, p.edge_dropout, p.act, p.act_leak, p.dropout, p.dt, need,
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


def _arrays(graph: Sequence[Tensor]) -> tuple[Any, ...]:
    return graph.arrays if isinstance(graph, Graph) else tuple(part.numpy() for part in graph)


def _work(x: Tensor, graph: Sequence[Tensor], plan: Plan) -> int:
    return x.numel() + graph[1].size(0) * plan.sums * plan.width
