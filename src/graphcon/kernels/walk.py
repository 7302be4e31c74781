r"""The op behind all couplings that are one matrix product and one pass over the edges: N steps of the oscillator.

On a small graph what costs is the bookkeeping around a step, on a large one the memory between them; so the whole walk
is one op. Its backward pass is another, and keeps what `store` keeps: the states, the derivative of the activation, and
where the weights of the edges depend on the state, H and the attention.

The parameters go in as a vector theta and come out again, unchanged. Whoever cuts a walk into several (`checkpoint`)
hands on what came out: the gradient is then summed step by step from the last to the first however the walk is cut,
and comes out the same to the last bit. Where every step has a layer of its own, theta has them one after the other,
that of the last step first: so what they share (alpha, gamma, a source) is summed in the same order by autograd.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

import torch
from torch import Tensor

from graphcon.kernels import _compiled, _runtime, plain
from graphcon.kernels._compiled import NEED_EDGE
from graphcon.kernels.op import is_many
from graphcon.kernels.packing import Packed, back_in_torch, pack, packed, unpacked
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
    source: bool,
    bare: bool,
    need: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Takes `steps` steps; returns x, y, theta, edge, and what the backward pass needs.

    Args:
        x: The state ``[nodes, channels]``.
        y: The velocity.
        theta: All parameters, see :meth:`Plan.split`: of one layer, or of as many as there are steps.
        edge: A number per slot and head, where the plan has one, else empty.
        graph: ptr, col, tptr, trow and tslot of :class:`graphcon.kernels.structure.Graph`.
        seeds: Two per step, ``[steps, 2]``, where there is dropout, else empty.
        steps: The number of steps.
        kind: This and what follows up to bare: see :class:`Plan`.
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
        source: See there.
        bare: See there.
        need: What gradients will be asked for: 1 any, 2 that of edge, 4 those of alpha and gamma, 8 those of x and y.
    """
    numbers = skip, shift, mix, leak, edge_dropout, act, act_leak, dropout, dt, source, bare
    plan = Plan(kind, heads, width, key, concat, *numbers)
    saved = x.new_zeros(_saved_size(x, graph, steps, plan, need))  # what is not written is defined, too
    x, y = _run(x, y, theta, edge, graph, seeds, steps, plan, need, saved)
    return x, y, theta.clone(), edge.clone(), saved


def _run(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan,
    need: int, saved: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    x, y, edge = x.contiguous(), y.contiguous(), edge.contiguous()
    if _runtime.compiled(x):
        sizes = _setting(x, graph, steps, plan, need)
        threads = _runtime.threads_for(sizes.work)
        with _runtime.pool():
            return _compiled.forward(x, y, theta, edge, _arrays(graph), seeds, steps, sizes, saved, threads)
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


def _setting(x: Tensor, graph: Sequence[Tensor], steps: int, plan: Plan, need: int) -> _compiled.Setting:
    return _compiled.setting(plan, x.size(0), x.size(1), graph[1].size(0), steps, need, x.dtype)


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
    source: bool,
    bare: bool,
    need: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """From the gradients of the results of :func:`walk` to those of x, y, theta and edge.

    What `need` does not ask for is left unfinished.
    """
    numbers = skip, shift, mix, leak, edge_dropout, act, act_leak, dropout, dt, source, bare
    plan = Plan(kind, heads, width, key, concat, *numbers)
    gx, gy, gtheta, gedge = (g.clone(memory_format=torch.contiguous_format) for g in (gx, gy, gtheta, gedge))
    return _run_back(gx, gy, gtheta, gedge, x, y, theta, edge, saved, graph, seeds, steps, plan, need)


def _run_back(
    gx: Tensor, gy: Tensor, gtheta: Tensor, gedge: Tensor, x: Tensor, y: Tensor, theta: Tensor, edge: Tensor,
    saved: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan, need: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """The gradients given are written to; that of edge may be empty where nobody needs it."""
    x, y, edge = x.contiguous(), y.contiguous(), edge.contiguous()
    if _runtime.compiled(x):
        wanted = gedge if need & NEED_EDGE else gedge[:0]
        sizes = _setting(x, graph, steps, plan, need)
        threads = _runtime.threads_for(sizes.work)
        with _runtime.pool():
            _compiled.backward(
                gx, gy, gtheta, wanted, x, y, theta, edge, _arrays(graph), seeds, steps, sizes, need, saved, threads
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
    x, y, theta, edge, seeds, saved, *graph = ctx.saved_tensors
    inputs, wanted = (x, y, theta, edge), ctx.needs_input_grad[:4]
    given = [_given(g, value) for g, value in zip(grads[:4], inputs, strict=True)]
    if torch.is_grad_enabled():
        found = _back_in_torch(given, inputs, wanted, graph, seeds, ctx.steps, ctx.plan)
    else:
        numbers = (getattr(ctx.plan, field.name) for field in fields(ctx.plan))
        found = walk_backward(*given, *inputs, saved, graph, seeds, ctx.steps, *numbers, ctx.need)
    found = [g if want else None for g, want in zip(found, wanted, strict=True)]
    return (*found, [None] * 5, *([None] * ctx.others))


walk.register_autograd(_back_of_op, setup_context=_setup)


def _back_in_torch(
    grads: Sequence[Tensor], inputs: Sequence[Tensor], wanted: Sequence[bool], graph: Sequence[Tensor], seeds: Tensor,
    steps: int, plan: Plan,
) -> list[Tensor | None]:  # fmt: skip
    """The gradients of x, y, theta and edge where they are to have gradients in turn."""
    inputs = x, y, theta, edge = [value.view_as(value) for value in inputs]  # x and y may be one and the same
    gx, gy, gtheta, gedge = grads
    results = _plain_walk(x, y, theta, edge, graph, seeds, steps, plan)
    asked = [value for value, want in zip(inputs, wanted, strict=True) if want]
    through = iter(torch.autograd.grad(results, asked, [gx, gy], create_graph=True, allow_unused=True))
    found = [next(through) if want else None for want in wanted]
    return [*found[:2], _added(gtheta, found[2]), _added(gedge, found[3])]


class EagerWalk(torch.autograd.Function):
    """The op as one calls it outside of any tracing: the same functions, without the dispatcher's share of the time.

    On a graph of two hundred nodes the dispatcher and the packing of lists cost more than the steps. The parameters are
    the parts of theta, of so many layers; or theta itself, which then comes out again, with edge.
    """

    @staticmethod
    def forward(ctx: Any, x, y, edge, graph, seeds, steps, plan, need, layers, *parameters: Tensor):  # pyright: ignore  # autograd Functions take any arguments
        whole, theta = len(parameters) > 1, parameters[-1]
        if whole:
            theta = packed(plan, x.size(1), parameters, layers)
        saved = scratch(x, _setting(x, graph, steps, plan, need).kept.length)
        if need:
            ctx.save_for_backward(x, y, edge, seeds, saved, theta, *parameters)
            ctx.graph, ctx.steps, ctx.plan = graph, steps, plan  # nobody else has the graph
            ctx.need, ctx.layers = need, layers
            ctx.set_materialize_grads(False)
        results = _run(x, y, theta, edge, graph, seeds, steps, plan, need, saved)
        return results if whole else (*results, theta, edge)

    @staticmethod
    def backward(ctx: Any, gx, gy, gtheta=None, gedge=None):  # pyright: ignore  # as above
        x, y, edge, seeds, saved, theta, *parameters = ctx.saved_tensors
        steps, plan, need, layers, wanted = ctx.steps, ctx.plan, ctx.need, ctx.layers, ctx.needs_input_grad
        whole, wanted_parameters = len(parameters) > 1, wanted[9:]
        if torch.is_grad_enabled() or any(map(is_many, (gx, gy, gtheta, gedge))):
            with torch.enable_grad():
                theta = pack(plan, x.size(1), parameters, layers) if whole else theta
                inputs, asked = (x, y, theta, edge), (*wanted[:2], any(wanted_parameters), wanted[2])
                given = [_given(g, value) for g, value in zip((gx, gy, gtheta, gedge), inputs, strict=True)]
                gx, gy, gtheta, gedge = _back_in_torch(given, inputs, asked, ctx.graph, seeds, steps, plan)
                gtheta = cast(Tensor, gtheta)
                into = (gtheta,)
                if whole:
                    into = back_in_torch(plan, x.size(1), parameters, gtheta, wanted_parameters, layers)
        else:
            # Gradients that autograd gave are not ours to write to.
            gx, gy, gtheta = _ours(gx, x), _ours(gy, y), _ours(gtheta, theta)
            gedge = _ours(gedge, edge) if wanted[2] else edge[:0]
            gx, gy, gtheta, gedge = _run_back(
                gx, gy, gtheta, gedge, x, y, theta, edge, saved, ctx.graph, seeds, steps, plan, need
            )
            into = unpacked(plan, x.size(1), parameters, gtheta, wanted_parameters, layers) if whole else (gtheta,)
        found = gx if wanted[0] else None, gy if wanted[1] else None, gedge if wanted[2] else None
        return *found, None, None, None, None, None, None, *into


def _given(g: Tensor | None, like: Tensor) -> Tensor:
    return torch.zeros_like(like, memory_format=torch.contiguous_format) if g is None else g


def _ours(given: Tensor | None, like: Tensor) -> Tensor:
    """A gradient to write to."""
    own = scratch(like, *like.shape)
    return own.zero_() if given is None else own.copy_(given)


def take_steps(
    x: Tensor, y: Tensor, parameters: Sequence[Tensor], edge: Tensor, graph: Sequence[Tensor], seeds: Tensor,
    steps: int, plan: Plan, need: int, layers: int = 1,
) -> tuple[Tensor, ...]:  # fmt: skip
    """:func:`walk`, by the shortest way, from all parts of theta, of so many layers, or from theta."""
    if _runtime.is_traced():
        p, whole = plan, len(parameters) > 1
        theta = pack(plan, x.size(1), parameters, layers) if whole else parameters[0]
        results = walk(
            x, y, theta, edge, list(graph[:5]), seeds, steps, p.kind, p.heads, p.width, p.key, p.concat, p.skip,
            p.shift, p.mix, p.leak, p.edge_dropout, p.act, p.act_leak, p.dropout, p.dt, p.source, p.bare, need,
        )  # fmt: skip
        return results[: 2 if whole else 4]
    return EagerWalk.apply(x, y, edge, graph, seeds, steps, plan, need, layers, *parameters)  # pyright: ignore  # apply has no annotation


def pack_once(plan: Plan, channels: int, parts: Sequence[Tensor]) -> Tensor:
    """Theta, for a walk that is cut: all its parts share one."""
    if _runtime.is_traced():
        return pack(plan, channels, parts)
    return Packed.apply(plan, channels, *parts)  # pyright: ignore  # apply has no annotation


def _plain_walk(
    x: Tensor, y: Tensor, theta: Tensor, edge: Tensor, graph: Sequence[Tensor], seeds: Tensor, steps: int, plan: Plan
) -> tuple[Tensor, Tensor]:
    layers = plan.split(theta, *x.shape)
    for n in range(steps):
        parameters = layers[-1 - n % len(layers)]
        x, y = plain.step(x, y, parameters, edge, graph[0], graph[1], _seeds_of(seeds, n), plan)
    return x, y


def _seeds_of(seeds: Tensor, n: int) -> Tensor:
    return seeds[n] if len(seeds) else seeds.new_zeros(2)


def _added(a: Tensor, b: Tensor | None) -> Tensor:
    return a if b is None else a + b


def _arrays(graph: Sequence[Tensor]) -> tuple[Any, ...]:
    return graph.arrays if isinstance(graph, Graph) else tuple(part.numpy() for part in graph)
