"""Calling any model: with what its forward names, and as it is when it is measured."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple, cast

from torch.nn import DataParallel, Module, ModuleList
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.data import Data

from graphcon.errors import InputError
from graphcon.oscillator import GraphCON

#: What a module calls the layer that it hands on to whatever it is given by name.
_WITHIN = ("core", "coupling", "layers")


def arguments(model: Module, data: Data) -> dict[str, Any]:
    """What a model is called with: :func:`named`.

    Raises:
        InputError: Its forward needs something that the data do not have.
    """
    given = named(model, data)
    if absent := [name for name in _takes(inside(model)).needed if name not in given]:
        raise InputError(
            f"{type(inside(model)).__name__}.forward needs {' and '.join(absent)}, but data={data} hands over "
            f"{', '.join(given) or 'nothing'}: a model is called with what its forward names of the data, as in "
            "forward(x, edge_index). Name its arguments like the data's own, and give the data what they lack"
        )
    return given


def named(model: Module, data: Data) -> dict[str, Any]:
    """What the data have of the arguments that a model's forward names: any of PyG's models, or one of ours.

    The targets are never among them.
    """
    names = _takes(inside(model)).names
    found = {name: data.get(name) for name in names if name not in ("y", "batch_size")}
    if "batch_size" in names and "batch" in data:
        found["batch_size"] = data.num_graphs
    return {name: value for name, value in found.items() if value is not None}


def inside(model: Module) -> Module:
    """The model itself, which ``torch.compile`` or a wrapper for several devices has put into another module."""
    if isinstance(compiled := getattr(model, "_orig_mod", None), Module):
        return inside(compiled)
    return inside(model.module) if isinstance(model, DataParallel | DistributedDataParallel) else model


@contextmanager
def evaluating(model: Module) -> Iterator[None]:
    """Within this context there is no dropout; afterwards every module is as it was, frozen parts too."""
    before = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in before:
            module.training = training


class _Names(NamedTuple):
    """What a function calls its arguments, which of them it cannot do without, and whether it takes any others."""

    names: tuple[str, ...]
    needed: tuple[str, ...] = ()
    others: bool = False


def _takes(model: Module) -> _Names:
    """The names of a model's forward, and where that takes any, those of the layer that it hands them to."""
    if isinstance(model, GraphCON):  # takes what its layer takes
        return _takes(model._layer(0))
    method = getattr(model.forward, "__func__", None)
    own = _names(model.forward if method is None else method, bound=method is not None)
    layer = _within(model) if own.others else None
    return own if layer is None else own._replace(names=tuple(dict.fromkeys((*own.names, *_takes(layer).names))))


def _within(model: Module) -> Module | None:
    """The layer that a module hands on to whatever it is given by name."""
    found = next((part for name in _WITHIN if isinstance(part := getattr(model, name, None), Module)), None)
    return cast(Module, found[0]) if isinstance(found, ModuleList) and len(found) else found


@lru_cache
def _names(forward: Callable[..., Any], bound: bool) -> _Names:
    """What a function calls its arguments. Asking takes as long as a small product, and is done for every batch."""
    given = list(inspect.signature(forward).parameters.values())[1 if bound else 0 :]
    named = [p for p in given if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return _Names(
        tuple(p.name for p in named),
        tuple(p.name for p in named if p.default is p.empty),
        any(p.kind is p.VAR_KEYWORD for p in given),
    )
