"""Which layers the kernels serve, and when."""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import Module
from torch.nn.modules import module as hooks_of_all
from torch.nn.parameter import UninitializedParameter
from torch_geometric import EdgeIndex
from torch_geometric import nn as pyg
from torch_geometric.nn.aggr import MaxAggregation, MeanAggregation, SumAggregation

from graphcon import couplings
from graphcon.kernels import _runtime
from graphcon.kernels.coupling import Coupling
from graphcon.kernels.layers import cheb, dot_product, gat, gated, gatv2, gcn, gin, gmm, sage, simple, transformer
from graphcon.kernels.structure import MOST_SLOTS

Bound = Callable[[Tensor], Tensor]

#: For each layer: how it is bound, the names of what it takes after x, and those of its maps that have no bias.
BINDERS: dict[type[Module], tuple[Callable[..., Bound | None], tuple[str, ...], tuple[str, ...]]] = {
    pyg.GCNConv: (gcn.bind, ("edge_index", "edge_weight"), ("lin",)),
    pyg.GATConv: (gat.bind, ("edge_index", "edge_attr"), ("lin", "lin_edge", "res")),
    pyg.GATv2Conv: (gatv2.bind, ("edge_index", "edge_attr"), ("lin_edge", "res")),
    pyg.TransformerConv: (transformer.bind, ("edge_index", "edge_attr"), ()),
    pyg.SAGEConv: (sage.bind, ("edge_index",), ("lin_r",)),
    pyg.GINConv: (gin.bind, ("edge_index",), ()),
    pyg.ChebConv: (cheb.bind, ("edge_index", "edge_weight", "batch"), ("lins",)),
    pyg.GMMConv: (gmm.bind, ("edge_index", "edge_attr"), ("root",)),
    pyg.SimpleConv: (simple.bind, ("edge_index", "edge_weight"), ()),
    pyg.ResGatedGraphConv: (gated.bind_res_gated, ("edge_index", "edge_attr"), ("lin_skip",)),
    couplings.DotProductConv: (dot_product.bind, ("edge_index",), ("lin_value",)),
    couplings.GatedGCNConv: (gated.bind_gated_gcn, ("edge_index",), ()),
    couplings.MoNetConv: (gmm.bind_monet, ("edge_index", "edge_attr"), ("root",)),
}

# Modules whose own forward the kernels stand in for: only as they are, without hooks or parametrisations.
_PARTS = (nn.Linear, pyg.Linear, couplings.IdentityMap, nn.Sigmoid)


def bind(layer: Module, x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound | None:
    """A function that computes ``layer(x, *args, **kwargs)`` on the kernels, or None where they do not cover it.

    Args:
        layer: The layer.
        x: A state it will be called with.
        args: What it takes after x.
        kwargs: What it takes by name.
    """
    if not _runtime.enabled() or not _takes(x) or _runtime.transformed():
        return None
    if type(layer) is couplings.Residual:
        inner = bind(layer.coupling, x, args, kwargs) if _as_it_is(layer) and _as_it_is(layer.lin) else None
        if isinstance(inner, Coupling) and _is_product(layer.lin, x.size(1)):
            return _if_alike(inner.plus_linear(layer.lin.weight), x)
        return None if inner is None else lambda x: inner(x) + layer.lin(x)
    if type(layer) not in BINDERS or not _bypassable(cast(pyg.MessagePassing, layer), x):
        return None
    binder, names, _ = BINDERS[type(layer)]
    given = _named(names, args, kwargs)
    if given is None or not _fits(given, x):
        return None
    return _if_alike(binder(layer, x, **given), x)


def call(layer: Module, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """``layer(x, *args, **kwargs)``, on the kernels where they cover it.

    For a layer that stands alone; what an oscillator wraps is on the kernels without being asked.

    Args:
        layer: The layer, its channels as many as those of x where kernels are to take it.
        x: The features ``[nodes, channels]``.
        args: What it takes after x: ``edge_index`` and, where it has such, ``edge_weight`` or ``edge_attr``.
        kwargs: The same by name.
    """
    bound = bind(layer, x, args, kwargs)
    return layer(x, *args, **kwargs) if bound is None else bound(x)


def _takes(x: Tensor) -> bool:
    fits = x.dim() == 2 and x.numel() > 0 and x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)
    return _ordinary(x) and fits and not torch.is_autocast_enabled("cpu")


def _if_alike(bound: Bound | None, x: Tensor) -> Bound | None:
    """What was bound, unless something in it is of another type than x or of another shape than is planned."""
    return None if isinstance(bound, Coupling) and not bound.alike(x) else bound


def _ordinary(value: Any) -> bool:
    """Whether it is a tensor and nothing more. While a program is traced, tensors are not what they seem."""
    if torch.compiler.is_compiling():
        return isinstance(value, Tensor) and not isinstance(value, EdgeIndex)
    return type(value) is Tensor or type(value) is nn.Parameter


def _bypassable(layer: pyg.MessagePassing, x: Tensor) -> bool:
    if (
        layer.flow != "source_to_target"
        or layer.decomposed_layers != 1
        or layer.explain
        or layer.node_dim not in (-2, 0)
        or getattr(layer, "dropout", 0.0) == 1.0  # what is left is divided by the share that is left
    ):
        return False
    # Layers that sum are summed; those that leave the choice tell their binder.
    if type(layer) not in _CHOOSING and type(layer.aggr_module) is not SumAggregation:
        return False
    channels = x.size(1)
    declared: Any = getattr(layer, "out_channels", channels)
    heads: Any = getattr(layer, "heads", 1) if getattr(layer, "concat", False) else 1
    if _taken(layer, channels) != channels or declared * heads != channels:
        return False
    called = layer._modules.get("nn")  # a network that is called as it is, whatever it does
    if called is not None and not all(_like(part, x) for part in called.modules()):
        return False
    return _has_its_maps(layer) and _stands_in(layer, x, called)


def _has_its_maps(layer: Module) -> bool:
    """Whether its maps are of the kinds its class makes: kernels would not see the bias of another, or find no weight.

    Where a layer's own maps may have one, its binder asks each.
    """
    *_, without_bias = BINDERS[type(layer)]
    inside = ((name, part) for name, child in layer._modules.items() if child is not None for part in child.modules())
    return all(
        (type(part) is not couplings.IdentityMap or (type(layer), name) in _MAY_BE_IDENTITY)
        and (name not in without_bias or getattr(part, "bias", None) is None)
        for name, part in inside
    )


def _is_product(part: Module, channels: int) -> bool:
    """Whether a map of so many channels to as many is its weight and nothing else."""
    return type(part) in (nn.Linear, pyg.Linear) and part.bias is None and part.weight.shape == (channels, channels)


def _taken(layer: Module, channels: int) -> Any:
    """The width that a layer takes; one that found it in its first input goes on to say -1."""
    declared = getattr(layer, "in_channels", channels)
    if declared != -1:
        return declared
    first = next((part for part in layer.modules() if isinstance(part, pyg.Linear)), None)
    return declared if first is None or isinstance(first.weight, UninitializedParameter) else first.weight.size(1)


def _stands_in(part: Module, x: Tensor, but: Module | None) -> bool:
    """Whether a module and all its parts but one are as they are, and their parameters like x."""
    return (
        _as_it_is(part)
        and _like(part, x)
        and all(
            _stands_in(inner, x, None) for inner in part._modules.values() if inner is not None and inner is not but
        )
    )


def _like(part: Module, x: Tensor) -> bool:
    """Whether its own parameters are numbers like those of x, in the same place."""
    return all(p is None or (p.dtype is x.dtype and p.device == x.device) for p in part._parameters.values())


def _as_it_is(part: Module) -> bool:
    """Whether nobody would notice that the module is not called: a class we know, no hooks, no method of its own."""
    known = type(part) in BINDERS or type(part) in _PARTS or type(part) in _AGGREGATIONS or type(part) in _CONTAINERS
    return known and untouched(part)


def untouched(part: Module) -> bool:
    """Whether a module does what its class is known for: no subclass, no hooks, no method in the place of another."""
    own = part.__dict__
    if type(part) not in _KNOWN or any(map(own.get, _HOOKS)) or any(name in own for name in _METHODS) or _hooked_all():
        return False
    return all(_is_known(type(part), name, method) for name, method in _KNOWN[type(part)].items())


def _is_known(kind: type[Module], name: str, method: Any) -> bool:
    """Whether nobody has put a method in the place of that of a class, but PyG one that it made from a template."""
    now = getattr(kind, name)
    return now is method or now is getattr(kind, f"_jinja_{name}", None)


def _hooked_all() -> bool:
    """Whether there are hooks on every module there is."""
    return bool(
        hooks_of_all._global_forward_hooks or hooks_of_all._global_forward_pre_hooks
        or hooks_of_all._global_backward_hooks or hooks_of_all._global_backward_pre_hooks
    )  # fmt: skip


_HOOKS = [
    *("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"),
    *(
        f"_{what}_forward{when}_hooks"
        for what in ("propagate", "message", "aggregate", "message_and_aggregate", "edge_update")
        for when in ("", "_pre")
    ),
]
_METHODS = [
    *("forward", "propagate", "message", "aggregate", "update"),
    *("message_and_aggregate", "edge_update", "edge_updater"),
]
_MAY_BE_IDENTITY = ((pyg.GCNConv, "lin"), (pyg.GATConv, "lin"))
_CHOOSING = (pyg.SAGEConv, pyg.GMMConv, couplings.MoNetConv)
_CONTAINERS = (couplings.Residual, nn.ModuleList)
_ACTIVATIONS = (nn.ReLU, nn.Tanh, nn.Sigmoid, nn.SiLU, nn.Identity, nn.LeakyReLU, nn.ELU, nn.GELU)
_AGGREGATIONS = (SumAggregation, MeanAggregation, MaxAggregation)
#: The methods of all classes whose place the kernels take, as they were before anybody could change them.
_KNOWN: dict[type[Module], dict[str, Any]] = {
    kind: {name: getattr(kind, name) for name in _METHODS if hasattr(kind, name)}
    for kind in (*BINDERS, *_PARTS, *_CONTAINERS, *_ACTIVATIONS, *_AGGREGATIONS, nn.Dropout)
}


def _named(names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments by name, or None where there are others than the kernels know."""
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or any(name not in names or name in given for name in kwargs):
        return None
    given.update(kwargs)
    return given if "edge_index" in given else None


def _fits(given: dict[str, Any], x: Tensor) -> bool:
    edge_index = given["edge_index"]
    if not (_ordinary(edge_index) or type(edge_index) is EdgeIndex):
        return False
    edges = edge_index.layout is torch.strided and edge_index.dtype is torch.int64 and edge_index.device.type == "cpu"
    if not edges or edge_index.dim() != 2:
        return False
    if not torch.compiler.is_compiling() and edge_index.size(1) + x.size(0) > MOST_SLOTS:  # no limit of a program
        return False
    weight, attributes = given.get("edge_weight"), given.get("edge_attr")
    if weight is not None and not (_matches(weight, edge_index, x) and weight.dim() == 1):
        return False
    return attributes is None or (_matches(attributes, edge_index, x) and attributes.dim() <= 2)


def _matches(value: Any, edge_index: Tensor, x: Tensor) -> bool:
    """Whether it is a tensor like x with a row per edge."""
    if not (_ordinary(value) and value.dtype is x.dtype and value.device == x.device and value.dim() > 0):
        return False
    return value.size(0) == edge_index.size(1)  # a program cannot take the len of a size it does not know
