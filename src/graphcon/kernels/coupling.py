"""A layer bound to a graph: its parameters and its edges in the form the kernels take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from graphcon.kernels._compiled import NEED_COEFFICIENTS, NEED_EDGE, NEED_STATE
from graphcon.kernels.counter import draw_seeds
from graphcon.kernels.oscillate import oscillate
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import Graph, constant, identity
from graphcon.kernels.walk import pack_once, take_steps


@dataclass(frozen=True)
class Coupling:
    """F(X) of one layer on one graph, as :class:`Plan` tells it. Called with x it returns F(x).

    Args:
        plan: What is computed.
        weight: What W ``[columns, channels]`` is made of, see :func:`pack`: its rows block by block, those of the
            linear term last; none where the plan is bare.
        graph: The edges.
        shift: s ``[columns]`` block by block, where the plan has one.
        bias: b ``[channels]``, or ``[nodes, channels]`` where the plan has a source.
        edge: A number per slot and head, where the plan has one.
        vector: What GATv2 multiplies its scores with.
    """

    plan: Plan
    weight: tuple[Tensor, ...]
    graph: Graph
    shift: tuple[Tensor, ...] = ()
    bias: Tensor | None = None
    edge: Tensor | None = None
    vector: tuple[Tensor, ...] = ()

    def __call__(self, x: Tensor) -> Tensor:
        """The coupling alone: one step from rest with dt = 1 and no oscillator is the force."""
        zero = constant(0.0, x.size(-1), x)
        return self.run(x, torch.zeros_like(x), self.parts(zero, zero), self._edge(x), self.plan, 1, self.draw(1))[1]

    def plus_linear(self, weight: Tensor) -> "Coupling":
        """F(X) + X R, for R given as the weight of a linear map: no product of its own."""
        if self.plan.bare:  # two blocks, the first of which copies x: that is exact
            copy = (identity(len(weight), weight),)
            return replace(self, plan=replace(self.plan, bare=False), weight=copy).plus_linear(weight)
        if self.plan.skip:
            *others, own = self.weight
            return replace(self, weight=(*others, own + weight))
        shift = (*self.shift, constant(0.0, len(weight), weight)) if self.plan.shift else ()
        return replace(self, plan=replace(self.plan, skip=True), weight=(*self.weight, weight), shift=shift)

    def plus_source(self, source: Tensor) -> "Coupling":
        """F(X) + S, for S ``[nodes, channels]``: a bias of every node's own."""
        bias = source if self.bias is None else source + self.bias
        return replace(self, plan=replace(self.plan, source=True), bias=bias)

    def parts(self, alpha: Tensor, gamma: Tensor) -> tuple[Tensor, ...]:
        """All parameters and the coefficients of the oscillator, in the order of :func:`pack`."""
        bias = constant(0.0, alpha.size(0), alpha) if self.bias is None else self.bias
        return *self.weight, bias, alpha, gamma, *self.shift, *self.vector

    def draw(self, steps: int, dropout: float = 0.0) -> Tensor:
        """Seeds for that many steps, if there is anything to be dropped."""
        if dropout > 0 or self.plan.edge_dropout > 0:
            return draw_seeds(steps)
        return torch.empty(0, 2, dtype=torch.int64, device="cpu")

    def run(
        self, x: Tensor, y: Tensor, parameters: tuple[Tensor, ...], edge: Tensor, plan: Plan, steps: int,
        seeds: Tensor, coefficients: bool = False, layers: int = 1,
    ) -> tuple[Tensor, ...]:  # fmt: skip
        """Takes steps; returns x and y. Where the parameters are one theta it returns that and edge, too, to go on.

        Parameters may be those of several layers like this one, one for each step, the last step first.
        """
        _refuse_other_types(x, y, edge, *parameters)
        needed = torch.is_grad_enabled() and any(value.requires_grad for value in (x, y, edge, *parameters))
        edges = self.edge is not None and self.edge.requires_grad
        state = x.requires_grad or y.requires_grad
        need = needed * (1 + NEED_EDGE * edges + NEED_COEFFICIENTS * coefficients + NEED_STATE * state)
        return take_steps(x, y, parameters, edge, self.graph, seeds, steps, plan, need, layers)

    def like(self, other: "Coupling") -> bool:
        """Whether another layer differs in its parameters alone, so that one op can walk through both."""
        fixed = self.edge is None or not self.edge.requires_grad
        return self.plan == other.plan and self.graph is other.graph and self.edge is other.edge and fixed

    def alike(self, x: Tensor) -> bool:
        """Whether all its numbers are of the type of x, in the same place and as many as planned.

        Loops take nothing else: they would read the bits of one type as those of another, and beyond the end.
        """
        parts = *self.weight, *self.shift, *self.vector, self.bias, self.edge
        same = all(part is None or (part.dtype is x.dtype and part.device == x.device) for part in parts)
        return same and self._has_planned_shapes(x.size(1))

    def _has_planned_shapes(self, channels: int) -> bool:
        plan, rows = self.plan, self.plan.rows(channels)
        head = (1, plan.heads, plan.width)
        weight: list[tuple[int, ...]] = [(length, channels) for length in rows]
        weight[1:1] = [head] * 2 if plan.kind == "additive" else []
        return (
            [part.shape for part in self.weight] == weight
            and [part.shape for part in self.shift] == [(length,) for length in rows if plan.shift]
            and [part.shape for part in self.vector] == [head for _ in range(plan.kind == "dynamic")]
            and (self.bias is None or self.bias.numel() == self.bias.size(-1) == channels)
            and (self.edge is None or self.edge.size(1) == plan.terms)
        )

    def _edge(self, x: Tensor) -> Tensor:
        return x.new_empty(0, self.plan.sums) if self.edge is None else self.edge


@dataclass(frozen=True)
class Oscillation:
    """The elementwise part of every step: activation, dropout, and eq. (4) of the paper."""

    act: str
    act_leak: float
    dropout: float
    dt: float
    alpha: float | Tensor
    gamma: float | Tensor

    @property
    def learned(self) -> bool:
        return any(isinstance(value, Tensor) and value.requires_grad for value in (self.alpha, self.gamma))

    def coefficients(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Alpha and gamma, one per channel."""
        return _per_channel(self.alpha, x), _per_channel(self.gamma, x)

    def fits(self, x: Tensor) -> bool:
        """Whether alpha and gamma are numbers like those of x, one for all channels or one for each."""
        learned = [value for value in (self.alpha, self.gamma) if isinstance(value, Tensor)]
        shapes = (), (1,), x.shape[1:]
        return all(v.dtype is x.dtype and v.device == x.device and v.shape in shapes for v in learned)

    def into(self, plan: Plan) -> Plan:
        return replace(plan, act=self.act, act_leak=self.act_leak, dropout=self.dropout, dt=self.dt)


def walk_shared(coupling: Coupling, oscillation: Oscillation, x: Tensor, steps: int) -> Callable[..., tuple]:
    """A walk ``(first, last, x, y, *carried) -> state`` in which all steps share one layer: one op from end to end."""
    parts, edge = coupling.parts(*oscillation.coefficients(x)), coupling._edge(x)
    plan, seeds = oscillation.into(coupling.plan), coupling.draw(steps, oscillation.dropout)
    learned = oscillation.learned

    def run(first: int, last: int, x: Tensor, y: Tensor, *carried: Tensor) -> tuple[Tensor, ...]:
        if last - first == steps:
            return coupling.run(x, y, parts, edge, plan, steps, seeds, learned)
        # A walk that is cut hands theta on, and edge.
        theta, edge_now = carried or (pack_once(plan, x.size(1), parts), edge)
        return coupling.run(x, y, (theta,), edge_now, plan, last - first, seeds[first:last], learned)

    return run


def walk_layers(couplings: Sequence[Coupling], oscillation: Oscillation, x: Tensor) -> Callable[..., tuple]:
    """The same where every step has a layer of its own, all of them alike: one op, too."""
    one, steps, learned = couplings[0], len(couplings), oscillation.learned
    coefficients = oscillation.coefficients(x)
    parts, edge = [coupling.parts(*coefficients) for coupling in couplings], one._edge(x)
    plan, seeds = oscillation.into(one.plan), one.draw(steps, oscillation.dropout)

    def run(first: int, last: int, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        layers = last - first
        parameters = tuple(part for n in reversed(range(first, last)) for part in parts[n])
        return one.run(x, y, parameters, edge, plan, layers, seeds[first:last], learned, layers)

    return run


def walk_steps(
    couplings: list[Callable[[Tensor], Tensor]], oscillation: Oscillation, x: Tensor, steps: int
) -> Callable[..., tuple]:
    """A walk of one op a step, or of two: where layers differ, or one is more than a walk knows."""
    alpha, gamma = oscillation.coefficients(x)
    seeds = draw_seeds(steps)[:, 0] if oscillation.dropout > 0 else torch.zeros(steps, dtype=torch.int64, device="cpu")
    numbers = oscillation.act, oscillation.act_leak, oscillation.dropout, oscillation.dt
    walks = [walk_shared(c, oscillation, x, 1) if isinstance(c, Coupling) else None for c in couplings]

    def run(first: int, last: int, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        for n in range(first, last):
            at = n % len(couplings)
            walk = walks[at]
            if walk is not None:
                x, y = walk(0, 1, x, y)[:2]
            else:
                force = couplings[at](x)
                _refuse_other_types(x, force)
                _refuse_other_shape(x, force)
                x, y, _ = oscillate(force, x, y, alpha, gamma, seeds[n], *numbers)
        return x, y

    return run


def _per_channel(value: float | Tensor, x: Tensor) -> Tensor:
    if not isinstance(value, Tensor):
        return constant(value, x.size(-1), x)
    return value if value.shape == x.shape[1:] else value.expand(x.size(-1)).contiguous()


def _refuse_other_types(x: Tensor, *others: Tensor) -> None:
    """Layers were bound to numbers of one type; what stands between them may make others."""
    other = next((value.dtype for value in others if value.dtype is not x.dtype), x.dtype)
    if other is not x.dtype:
        raise TypeError(
            f"numbers of {x.dtype} and of {other} meet in one step, but all must be of one type: let the activation "
            "and the normalisation return the type they are given"
        )


def _refuse_other_shape(x: Tensor, force: Tensor) -> None:
    """The loops would read beyond the end of what is smaller than the state."""
    if force.shape != x.shape:
        raise ValueError(
            f"the force has shape {list(force.shape)} and x has {list(x.shape)}, but both must be of one shape: let "
            "the layer and its normalisation return the shape they are given"
        )
