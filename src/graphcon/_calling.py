"""Calling any model: with what its forward names, and as it is when it is measured."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from torch.nn import Module
from torch_geometric.data import Data

from graphcon._validation import called_layer
from graphcon.oscillator import GraphCON


def arguments(model: Module, data: Data) -> dict[str, Any]:
    """What the data have of the arguments that a model's forward names: any of PyG's models, or one of ours."""
    # An oscillator takes what its layer takes.
    called = called_layer(model._layer(0) if isinstance(model, GraphCON) else model)
    names = _names(getattr(called.forward, "__func__", called.forward))
    available = {
        "x": data.x,
        "edge_index": data.edge_index,
        "edge_weight": data.get("edge_weight"),
        "edge_attr": data.get("edge_attr"),
        "batch": data.get("batch"),
        "batch_size": data.num_graphs if "batch" in data else None,
        "x_categories": data.get("x_categories"),
        "pos": data.get("pos"),
    }
    return {name: value for name, value in available.items() if name in names and value is not None}


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


@lru_cache
def _names(forward: Callable[..., Any]) -> frozenset[str]:
    """What a function calls its arguments. Asking takes as long as a small product, and is done for every batch."""
    return frozenset(inspect.signature(forward).parameters)
