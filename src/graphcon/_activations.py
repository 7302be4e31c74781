"""Activations by name, by class or as callables."""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.nn.resolver import activation_resolver


def resolve_act(act: str | Callable[[Tensor], Tensor] | None, **options: Any) -> Callable[[Tensor], Tensor]:
    """The activation of a name or a class, made with the options, or the callable as it is."""
    if act is None or act == "identity":
        return torch.nn.Identity()
    if callable(act) and not isinstance(act, type):
        return act
    try:
        if isinstance(act, type) and issubclass(act, Module):
            return act(**options)
        if not isinstance(act, str):
            raise TypeError("neither a name nor a class of modules, which PyG would hand on as it is")
        return cast(Callable[[Tensor], Tensor], activation_resolver(act, **options))
    except (TypeError, ValueError):
        taking = f" that takes {options}" if options else ""
        raise ValueError(
            f"act={act!r} is no activation{taking}: give a name such as 'relu', 'tanh' or 'gelu', a callable, or None "
            "or 'identity' for none"
        ) from None


def name_of(act: Callable[[Tensor], Tensor]) -> str:
    """What an activation is called in a line that describes a network."""
    return str(act) if isinstance(act, Module) else getattr(act, "__name__", repr(act))
