"""What tells two trainings apart: all that the model was built with, and all that it is given of the data."""

import copy
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.parameter import is_lazy
from torch_geometric.data import Data

from graphcon._calling import arguments, evaluating, inside, named
from graphcon.integrators import Integrator

#: Attributes that no option sets: those of every module, and what compiling it and PyG's reversible layers switch.
_INCIDENTAL = frozenset((*vars(Module()), "_compiled_call_impl", "disable"))


def of_model(model: Module, data: Data) -> str:
    """A digest of a model as it was built: its layers, their options, and the shapes of its weights, not the weights.

    Args:
        model: The model.
        data: A graph, from which a lazy model learns its widths.
    """
    model = _with_widths(inside(model), data)
    weights = {name: [list(p.shape), p.requires_grad] for name, p in model.named_parameters()}
    layers = {name: _options(module) for name, module in model.named_modules()}
    return hashlib.sha256(json.dumps([weights, layers], sort_keys=True).encode()).hexdigest()


def of_graphs(model: Module, graphs: Sequence[Data]) -> str:
    """A digest of the targets, and of all that a model is given of the graphs."""
    digest = hashlib.sha256()
    for data in graphs:
        for name, value in sorted((named(model, data) | {"y": data.y}).items()):
            digest.update(name.encode() + _bytes(value))
    return digest.hexdigest()


def _bytes(value: Any) -> bytes:
    if not isinstance(value, Tensor):
        return str(value).encode()
    value = value.detach().cpu()
    if value.layout is not torch.strided:
        entries = value.to_sparse_coo().coalesce()
        return _bytes(entries.indices()) + _bytes(entries.values())
    about = f"{value.dtype} {list(value.shape)}".encode()
    return about + value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def _with_widths(model: Module, data: Data) -> Module:
    """The model, or of one that is yet to learn its widths a copy that has learned them."""
    if not any(is_lazy(parameter) for parameter in model.parameters()):
        return model
    model = copy.deepcopy(model)
    with torch.no_grad(), evaluating(model), torch.random.fork_rng(devices=[]):
        model(**arguments(model, data))
    return model


def _options(module: Module) -> dict[str, Any]:
    """The class of a module, and its attributes that are plain values: no tensors, nor what is kept between calls."""
    own = {name: value for name, value in vars(module).items() if name not in _INCIDENTAL}
    return {"class": type(module).__qualname__} | _plain(own)


def _plain(value: Any) -> Any:
    """Numbers, words and functions by their names, in whatever holds them; None for all else."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Integrator):
        return repr(value)
    if isinstance(value, dict):
        found = {str(key): _plain(item) for key, item in value.items()}
        return {key: item for key, item in found.items() if item not in (None, [], {})}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [item for item in map(_plain, value) if item not in (None, [], {})]
    if isinstance(value, partial):
        return [_plain(value.func), _plain(value.args), _plain(value.keywords)]
    if isinstance(value, Callable) and not isinstance(value, Module):
        return getattr(value, "__qualname__", type(value).__qualname__)
    return None
