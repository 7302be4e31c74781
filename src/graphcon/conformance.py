"""Checks of an own layer: does it behave as a coupling should?"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module

from graphcon._example import Example
from graphcon._validation import check_force
from graphcon.oscillator import GraphCON


@dataclass(frozen=True)
class Check:
    """One check: what was asked, whether it holds, and what was seen."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class CouplingReport:
    """What `check_coupling` found; prints as a table."""

    layer: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(check.passed for check in self.checks)

    def __getitem__(self, name: str) -> Check:
        """The check of that name."""
        return next(check for check in self.checks if check.name == name)

    def __str__(self) -> str:
        """A table, one check a line."""
        lines = [f"{'ok' if check.passed else 'FAIL':<6}{check.name:<13}{check.detail}" for check in self.checks]
        return "\n".join([self.layer, *lines])


def check_coupling(
    layer: Module, x: Tensor | None = None, *args: Any, tolerance: float = 1e-4, **kwargs: Any
) -> CouplingReport:
    """Checks whether a layer can serve as a coupling, on a small random graph or on the given example.

    - **shape**: the output has the shape of x.
    - **gradients**: they are finite and reach the input and every parameter.
    - **permutation**: renumbering the nodes renumbers the output, and does nothing else.
    - **batch**: two graphs side by side give what they give one by one.
    - **memory**: ``store`` and ``checkpoint`` agree to the last bit, in the output and in all gradients.

    The layer itself is left as it was. Which arguments belong to nodes and which to edges is told by their names and
    their first dimension, so an example of your own should not have as many edges as nodes.

    Args:
        layer (torch.nn.Module): The layer.
        x (torch.Tensor, optional): An example of node features. (default: 8 random nodes as wide as the layer takes)
        *args: What the layer takes after x. (default: the ``edge_index`` of a random graph)
        tolerance (float, optional): How far two results may differ, relative to their size. (default: :obj:`1e-4`)
        **kwargs: What the layer takes by name, e.g. ``edge_attr``.

    Returns:
        A report that prints as a table; ``report.passed`` tells whether all is well.

    Example::

        print(graphcon.check_coupling(MyConv(16, 16)))
    """
    if not isinstance(layer, Module):
        raise TypeError(f"layer={layer!r}: must be a single layer, such as GCNConv(16, 16)")
    layer = deepcopy(layer)
    example = Example.of(layer, x, args, kwargs)
    shape = _run("shape", lambda: _shape(layer, example))
    if not shape.passed:
        return CouplingReport(str(layer), (shape,))
    return CouplingReport(
        str(layer),
        (
            shape,
            _run("gradients", lambda: _gradients(deepcopy(layer).train(), example)),
            _run("permutation", lambda: _permutation(layer.eval(), example, tolerance)),
            _run("batch", lambda: _batch(layer.eval(), example, tolerance)),
            _run("memory", lambda: _memory(layer.train(), example)),
        ),
    )


def _run(name: str, check: Callable[[], tuple[bool, str]]) -> Check:
    try:
        return Check(name, *check())
    except Exception as error:  # a user's own layer may raise anything, and the table is where to tell it
        return Check(name, False, f"{type(error).__name__}: {error}")


def _shape(layer: Module, example: Example) -> tuple[bool, str]:
    with torch.no_grad():
        out = example.call(layer)
    check_force(out, example.x, layer)
    return True, f"{list(example.x.shape)} -> {list(out.shape)}"


def _gradients(layer: Module, example: Example) -> tuple[bool, str]:
    layer.zero_grad()
    x = example.x.clone().requires_grad_()
    example.call(layer, x).square().sum().backward()
    grads = {"x": x.grad} | {name: p.grad for name, p in layer.named_parameters() if p.requires_grad}
    missing = [name for name, grad in grads.items() if grad is None]
    broken = [name for name, grad in grads.items() if grad is not None and not bool(grad.isfinite().all())]
    if missing or broken:
        told = [f"none for {', '.join(missing)}"] * bool(missing) + [f"not finite for {', '.join(broken)}"] * bool(
            broken
        )
        return False, "; ".join(told)
    return True, f"reach x and {len(grads) - 1} parameters"


def _permutation(layer: Module, example: Example, tolerance: float) -> tuple[bool, str]:
    order = torch.randperm(len(example.x), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        return _close(example.permuted(order).call(layer), example.call(layer)[order], tolerance)


def _batch(layer: Module, example: Example, tolerance: float) -> tuple[bool, str]:
    other = example.x.flip(0)
    with torch.no_grad():
        one_by_one = torch.cat([example.call(layer), example.call(layer, other)])
        return _close(example.doubled(other).call(layer), one_by_one, tolerance)


def _close(result: Tensor, expected: Tensor, tolerance: float) -> tuple[bool, str]:
    scale = max(float(expected.abs().max()), 1e-12)
    difference = float((result - expected).abs().max()) / scale
    return difference <= tolerance, f"relative difference {difference:.1e}"


def _memory(layer: Module, example: Example) -> tuple[bool, str]:
    results = []
    for mode in ("store", "checkpoint"):
        network = GraphCON(deepcopy(layer), 4, memory=mode)
        x = example.x.clone().requires_grad_()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            out = example.call(network, x)
            out.square().sum().backward()
        results.append({"output": out, "x": x.grad} | {name: p.grad for name, p in network.named_parameters()})
    stored, recomputed = results
    different = [name for name, value in stored.items() if not _same_bits(value, recomputed[name])]
    return not different, f"differ in {', '.join(different)}" if different else "equal to the last bit"


def _same_bits(a: Tensor | None, b: Tensor | None) -> bool:
    return (a is None and b is None) or (a is not None and b is not None and torch.equal(a, b))
