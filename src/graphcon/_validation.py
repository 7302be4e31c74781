"""Bad input is refused before any work is done: the argument, its value, the rule, the cure."""

import inspect
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor
from torch.nn import Linear, Module, ModuleList
from torch_geometric import nn as pyg

from graphcon._words import did_you_mean
from graphcon.couplings import Residual


def check_number(name: str, value: Any, *, positive: bool) -> float:
    """Returns a finite number that is positive, or at least not negative."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is a {type(value).__name__}, but must be a number")
    if not math.isfinite(value) or value < 0 or (positive and value == 0):
        rule = "positive" if positive else "not negative"
        raise ValueError(f"{name}={value!r}, but {name} must be finite and {rule}")
    return float(value)


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Returns a whole number that is not below the least."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r} is a {type(value).__name__}, but must be a whole number")
    if value < least:
        raise ValueError(f"{name}={value}, but {name} must be at least {least}")
    return int(value)


def check_probability(name: str, value: Any) -> float:
    """Returns a probability in [0, 1)."""
    value = check_number(name, value, positive=False)
    if value >= 1.0:
        raise ValueError(f"{name}={value!r}, but {name} is the share of entries set to zero: 0 <= {name} < 1")
    return value


def check_share(name: str, value: Any) -> float:
    """Returns a share in [0, 1]."""
    value = check_number(name, value, positive=False)
    if value > 1.0:
        raise ValueError(f"{name}={value!r}, but {name} is a share: 0 <= {name} <= 1")
    return value


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Returns one of the choices; an unknown one is refused with the nearest name."""
    if value in choices:
        return value
    there = ", ".join(map(repr, choices))
    raise ValueError(f"{name}={value!r} is unknown; choose one of {there}.{did_you_mean(value, choices)}")


def check_coupling_and_steps(coupling: Any, steps: Any) -> tuple[Module, int]:
    """Returns the layer shared by all steps or the `ModuleList` with one per step, and the number of steps."""
    steps = None if steps is None else check_count("steps", steps)
    if isinstance(coupling, Module) and not isinstance(coupling, ModuleList):
        if steps is None:
            raise ValueError(
                f"steps is missing: one {type(coupling).__name__} is shared by all steps, so say how many, "
                "e.g. steps=32; or give a list with one layer per step"
            )
        check_declared_width(coupling)
        return coupling, steps
    if not isinstance(coupling, list | tuple | ModuleList):
        raise TypeError(
            f"coupling={coupling!r} is a {type(coupling).__name__}, but must be a layer (a torch.nn.Module) "
            "or a list with one layer per step"
        )
    layers = list(coupling)
    if not layers:
        raise ValueError("coupling is an empty list, but needs one layer per step")
    for n, layer in enumerate(layers):
        if not isinstance(layer, Module):
            raise TypeError(
                f"coupling[{n}]={layer!r} is a {type(layer).__name__}, but must be a layer (a torch.nn.Module)"
            )
        check_declared_width(layer)
    check_same_width(layers)
    if steps is not None and steps != len(layers):
        raise ValueError(
            f"steps={steps}, but coupling lists {len(layers)} layers, one per step: leave steps out, "
            "or give one layer to be shared by all steps"
        )
    return ModuleList(layers), len(layers)


def check_norms(norms: Any, steps: int) -> ModuleList:
    """Returns the normalisations as modules, one per step."""
    if isinstance(norms, str) or not isinstance(norms, Iterable):
        raise TypeError(
            f"norm={norms!r} must be a list with one module per step, e.g. [BatchNorm1d(64) for _ in range({steps})]"
        )
    found = list(norms)
    for n, norm in enumerate(found):
        if not isinstance(norm, Module):
            raise TypeError(f"norm[{n}]={norm!r} is a {type(norm).__name__}, but must be a torch.nn.Module")
    if len(found) != steps:
        raise ValueError(f"norm lists {len(found)} modules, but there are {steps} steps, each with its own")
    return ModuleList(found)


def width(layer: Module) -> int | None:
    """The number of channels a layer says it takes; None where it does not say or is yet to learn it."""
    channels = getattr(layer, "in_channels", None)
    if isinstance(channels, list | tuple) and channels:
        channels = channels[0]
    if hasattr(layer, "first_aggr"):  # SignedConv counts the channels of positive and negative edges apart
        return None
    return channels if isinstance(channels, int) and channels > 0 else None


def width_of_network(layer: Module) -> int | None:
    """The number of channels that the network of a layer such as GIN takes and gives; None where these differ."""
    network = getattr(layer, "nn", None)
    parts = network.modules() if isinstance(network, Module) else ()
    sizes = [_sizes(part) for part in parts if isinstance(part, Linear | pyg.Linear)]
    return sizes[0][0] if sizes and sizes[0][0] == sizes[-1][1] else None


def _sizes(linear: Linear | pyg.Linear) -> tuple[int, int]:
    """The channels that a map takes and gives; -1 where it is yet to learn them."""
    if isinstance(linear, Linear):
        return linear.in_features, linear.out_features
    return linear.in_channels, linear.out_channels


def check_declared_width(layer: Module) -> None:
    """Refuses a layer that says that its output is wider or narrower than its input."""
    taken, given = width(layer), getattr(layer, "out_channels", None)
    if taken is None or not isinstance(given, int):
        return
    if isinstance(powers := getattr(layer, "powers", None), list | tuple):  # MixHopConv concatenates them
        given *= len(powers)
    if getattr(layer, "concat", False) is True and isinstance(heads := getattr(layer, "heads", None), int):
        given *= heads
    if taken != given:
        raise ValueError(_other_width(layer, taken, given))


def check_same_width(layers: Sequence[Module]) -> None:
    """Refuses layers that say they take states of different widths: one state goes through all."""
    widths = [(n, taken) for n, layer in enumerate(layers) if (taken := width(layer)) is not None]
    for n, taken in widths[1:]:
        first, channels = widths[0]
        if taken != channels:
            raise ValueError(
                f"coupling[{n}]={layers[n]} takes {taken} channels and coupling[{first}]={layers[first]} {channels}, "
                "but one state goes through all layers of the list: give all of them the same number of channels"
            )


def _other_width(layer: Module, taken: int, given: int) -> str:
    heads = getattr(layer, "heads", 1)
    if getattr(layer, "concat", False) is True and isinstance(heads, int) and heads > 1:
        cure = f"give it concat=False, or out_channels={taken // heads} if {heads} divides {taken}"
    else:
        declared = getattr(layer, "out_channels", None)
        parts = given // declared if isinstance(declared, int) and declared > 0 else 1  # put side by side
        cure = f"follow it by a linear map back to {taken}"
        if parts > 0 and taken % parts == 0:
            cure = f"give the layer out_channels={taken // parts}, or {cure}"
    return (
        f"coupling {layer} turns {taken} channels into {given}, but the oscillator adds its output to the state, "
        f"so both must have the same number of channels: {cure}"
    )


def check_force(force: Any, x: Tensor, layer: Any, name: str = "coupling") -> None:
    """Refuses what a layer returned, or its normalisation or activation, if it cannot be added to the state."""
    if not isinstance(force, Tensor):
        raise TypeError(
            f"{name} {layer} returned a {type(force).__name__}, but must return one tensor of the shape of x, "
            f"{list(x.shape)}"
        )
    if force.shape == x.shape:
        return
    if name == "coupling" and force.shape[:-1] == x.shape[:-1]:
        raise ValueError(_other_width(layer, x.size(-1), force.size(-1)))
    raise ValueError(
        f"{name} {layer} returned shape {list(force.shape)} for x of shape {list(x.shape)}, "
        "but must return the shape it was given"
    )


def messages(layer: Module, edge_index: Any, x: Tensor) -> int:
    """How many numbers the messages of a layer along all edges have; none where it multiplies by a sparse matrix.

    Args:
        layer: The layer, on its own path.
        edge_index: The edges; None where it takes none.
        x: A state it is called with.
    """
    if isinstance(edge_index, Tensor) and edge_index.layout is torch.strided:
        edges = edge_index.size(1)
    elif edge_index is None or getattr(layer, "fuse", False):
        return 0
    else:
        edges = edge_index._nnz() if isinstance(edge_index, Tensor) else edge_index.nnz()
    heads = getattr(layer, "heads", 1) if getattr(layer, "concat", True) is False else 1  # each of the whole width
    return edges * (heads if isinstance(heads, int) else 1) * x.size(-1) * math.prod(x.shape[:-2])


def refuse_proxy(x: Any) -> None:
    """Refuses what torch.fx traces with."""
    if isinstance(x, torch.fx.Proxy):
        raise TypeError(
            "x is a Proxy of torch.fx: oscillators cannot be traced, as PyG's to_hetero would. Make one graph of the "
            "kinds of nodes with data.to_homogeneous(), and take a layer with edge_type, e.g. RGCNConv"
        )


def check_state(x: Any, y: Any, layer: Module) -> None:
    """Refuses a state that is no floating-point matrix or does not fit the layer."""
    refuse_proxy(x)
    if not isinstance(x, Tensor):
        raise TypeError(f"x is a {type(x).__name__}, but must be a tensor of shape [nodes, channels]")
    if x.dim() < 2:
        raise ValueError(f"x has shape {list(x.shape)}, but must have shape [nodes, channels]")
    if x.is_complex():
        raise TypeError(
            f"x is {x.dtype}, but the state of an oscillator is a real number: give the parts as channels of their "
            "own, torch.cat([x.real, x.imag], dim=-1)"
        )
    if not x.is_floating_point():
        raise TypeError(f"x is {x.dtype}, but the state of an oscillator is a real number: use x.float()")
    if (channels := width(layer)) is not None and x.size(-1) != channels:
        raise ValueError(
            f"x has {x.size(-1)} channels (shape {list(x.shape)}), but coupling {layer} takes {channels}: "
            f"map x to {channels} channels first, e.g. with torch.nn.Linear({x.size(-1)}, {channels})"
        )
    if y is None:
        return
    if not isinstance(y, Tensor):
        raise TypeError(f"y is a {type(y).__name__}, but must be a tensor of the shape of x, {list(x.shape)}")
    if y.shape != x.shape:
        raise ValueError(f"y has shape {list(y.shape)} and x has {list(x.shape)}, but a velocity has the shape of x")
    if y.dtype != x.dtype:
        raise TypeError(f"y is {y.dtype} and x is {x.dtype}, but a velocity is of the type of x: use y.to(x.dtype)")


def check_parameters(x: Tensor, layer: Module) -> None:
    """Refuses a state of another type of numbers than the parameters of the layer."""
    own = next((parameter.dtype for parameter in layer.parameters() if parameter.is_floating_point()), x.dtype)
    if own != x.dtype and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(
            f"x is {x.dtype}, but the parameters of coupling {layer} are {own}: use x.to({own}), or layer.to({x.dtype})"
        )


def arguments_after_x(layer: Module) -> tuple[str, ...]:
    """What a layer calls the arguments that it takes after x, as far as they can be given in order."""
    parameters = inspect.signature(called_layer(layer).forward).parameters.values()
    return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)[1:]


def called_layer(layer: Module) -> Module:
    """The layer whose forward names the arguments: around another one, `Residual` takes whatever that takes."""
    return called_layer(layer.coupling) if isinstance(layer, Residual) else layer


def check_graph(given: dict[str, Any], x: Tensor) -> None:
    """Refuses edges as :func:`check_edge_index` does, and weights or features of another number of edges or type.

    Args:
        given: What a layer is given, by name.
        x: The node features.
    """
    edge_index = given.get("edge_index")
    if edge_index is None:
        return
    check_edge_index(edge_index, x.size(-2))
    if type(edge_index) is not Tensor or edge_index.layout is not torch.strided:
        return
    for name in ("edge_weight", "edge_attr"):
        value = given.get(name)
        if name == "edge_weight" and value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"edge_weight is a {type(value).__name__}, but must be a tensor of shape [{edge_index.size(1)}], a "
                "number for each edge: use torch.tensor"
            )
        if isinstance(value, Tensor) and (value.dim() == 0 or len(value) != edge_index.size(1)):
            raise ValueError(
                f"{name} has shape {list(value.shape)}, but edge_index has {edge_index.size(1)} edges: "
                f"it must have a row for each"
            )
        if name == "edge_weight" and isinstance(value, Tensor) and not value.is_floating_point():
            raise TypeError(
                f"edge_weight is {value.dtype}, but weights are real numbers: use edge_weight.to({x.dtype})"
            )
        check_same_type(name, value, x)


def check_same_type(name: str, value: Any, x: Tensor) -> None:
    """Refuses real numbers of another type than x has, which would make the state one of that type."""
    if not isinstance(value, Tensor) or not value.is_floating_point() or value.dtype == x.dtype:
        return
    if not torch.is_autocast_enabled(x.device.type):
        cure = f"use {name}.to({x.dtype})"
        raise TypeError(f"{name} is {value.dtype} and x is {x.dtype}, but both must be of one type: {cure}")


def check_edge_index(edge_index: Any, num_nodes: int) -> None:
    """Refuses edges of the wrong type or shape, or to nodes that do not exist.

    The range is looked at on a CPU only: on a GPU it would have to wait for the device.
    """
    if not isinstance(edge_index, Tensor):
        if hasattr(edge_index, "sparse_sizes"):  # torch_sparse.SparseTensor
            return
        raise TypeError(
            f"edge_index is a {type(edge_index).__name__}, but must be a torch.int64 tensor of shape [2, edges]"
        )
    if edge_index.layout is not torch.strided:
        if edge_index.shape != (num_nodes, num_nodes):
            raise ValueError(
                f"edge_index is a sparse matrix of shape {list(edge_index.shape)}, but x has {num_nodes} nodes: "
                f"it must have shape [{num_nodes}, {num_nodes}]"
            )
        return
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        hint = ": use edge_index.t()" if edge_index.dim() == 2 and edge_index.size(1) == 2 else ""
        raise ValueError(f"edge_index has shape {list(edge_index.shape)}, but must have shape [2, edges]{hint}")
    if edge_index.dtype is not torch.int64 and type(edge_index) is Tensor:
        raise TypeError(f"edge_index is {edge_index.dtype}, but must be torch.int64: use edge_index.long()")
    if edge_index.numel() == 0 or edge_index.device.type != "cpu":
        return
    low, high = (int(value) for value in edge_index.as_subclass(Tensor).aminmax())
    if low < 0 or high >= num_nodes:
        wrong = low if low < 0 else high
        column = int((edge_index.as_subclass(Tensor) == wrong).any(0).nonzero()[0])
        raise ValueError(
            f"edge_index names node {wrong} (edge {column}), but x has {num_nodes} nodes, 0 to {num_nodes - 1}: "
            "remove the edge, or add the node's row to x"
        )
