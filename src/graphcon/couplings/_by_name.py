"""Couplings by name: everything in the paper, and every layer of PyG."""

from collections.abc import Callable
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

from torch.nn import Linear, Module, ReLU, Sequential
from torch_geometric.nn import conv

from graphcon.couplings.attention import DotProductConv
from graphcon.couplings.gated_gcn import GatedGCNConv
from graphcon.couplings.identity import IdentityMap
from graphcon.couplings.monet import MoNetConv
from graphcon.couplings.pointwise import PointwiseConv
from graphcon.couplings.spline import SplineConv

#: Stands for the default of an option that has none.
REQUIRED = Parameter.empty


def _heads(channels: int, heads: int | None) -> int:
    if heads is None:
        return next(h for h in (4, 2, 1) if channels % h == 0)
    if channels % heads:
        raise ValueError(f"heads={heads} does not divide the {channels} channels that the heads are to fill together")
    return heads


def _gcn(channels: int, values: bool = True, **kwargs: Any) -> Module:
    return _with_values(conv.GCNConv(channels, channels, **kwargs), channels, values)


def _gat(channels: int, heads: int | None = None, values: bool = True, **kwargs: Any) -> Module:
    heads = _heads(channels, heads)
    return _with_values(conv.GATConv(channels, channels // heads, heads=heads, **kwargs), channels, values)


def _with_values(layer: Module, channels: int, values: bool) -> Module:
    """The layer, where ``values`` is False without its linear map: neighbours are summed as they are."""
    if not values:
        layer.lin = IdentityMap(channels)
    return layer


def _gin(channels: int, **kwargs: Any) -> Module:
    return conv.GINConv(Sequential(Linear(channels, channels), ReLU(), Linear(channels, channels)), **kwargs)


def _cheb(channels: int, K: int = 3, **kwargs: Any) -> Module:
    return conv.ChebConv(channels, channels, K=K, **kwargs)


def _square(layer: Callable[..., Module]) -> Callable[..., Module]:
    return lambda channels, **kwargs: layer(channels, channels, **kwargs)


_LAYERS: dict[str, type[Module]] = {
    "gcn": conv.GCNConv,
    "gat": conv.GATConv,
    "transformer": DotProductConv,
    "gin": conv.GINConv,
    "gatedgcn": GatedGCNConv,
    "sage": conv.SAGEConv,
    "monet": MoNetConv,
    "cheb": conv.ChebConv,
    "spline": SplineConv,
    "mlp": PointwiseConv,
}
#: Other names for some of them.
ALIASES = {"tran": "transformer"}
#: What each name builds, from the number of channels and the options of its layer.
COUPLINGS: dict[str, Callable[..., Module]] = {
    **{name: _square(layer) for name, layer in _LAYERS.items()},
    **{"gcn": _gcn, "gat": _gat, "gin": _gin, "cheb": _cheb},
}
_WIDTHS = ("in_channels", "out_channels", "channels")


def build(name: str, channels: int, **kwargs: Any) -> Module:
    """Builds the coupling of that name: one of `COUPLINGS` or `ALIASES`, or a class of ``torch_geometric.nn.conv``.

    Args:
        name: The name, e.g. ``"gat"`` or ``"GATv2Conv"``.
        channels: The number of channels it maps to itself.
        **kwargs: Options of the layer, e.g. ``heads=8``.
    """
    name = ALIASES.get(name, name)
    if name in conv.classes and name != "MessagePassing":
        layer = getattr(conv, name)
        widths = [key for key in _WIDTHS if key in signature(layer).parameters]
        return _made(name, layer, kwargs, **dict.fromkeys(widths, channels))
    if name not in COUPLINGS:
        near = get_close_matches(name, [*COUPLINGS, *conv.classes], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"coupling={name!r} is unknown; choose one of {', '.join(map(repr, COUPLINGS))}, or a layer of "
            f"torch_geometric.nn by its class name.{hint}"
        )
    return _made(name, COUPLINGS[name], kwargs, channels=channels)


def _made(name: str, make: Callable[..., Module], kwargs: dict[str, Any], **widths: int) -> Module:
    try:
        return make(**widths, **kwargs)
    except TypeError as error:
        known = options(name)
        unknown = [key for key in kwargs if key not in known]
        if not unknown:
            raise
        near = get_close_matches(unknown[0], known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise TypeError(
            f"{', '.join(unknown)}: neither an option of the network nor of coupling {name!r}, which has "
            f"{', '.join(known)}.{hint}"
        ) from error


def options(name: str) -> dict[str, Any]:
    """The options of the coupling of that name with their defaults; :obj:`REQUIRED` where there is none.

    Args:
        name: As in :func:`build`.
    """
    name = ALIASES.get(name, name)
    named = name in COUPLINGS
    layer = _LAYERS[name] if named else getattr(conv, name)
    found = {p.name: p.default for p in _parameters(layer) if p.name not in _WIDTHS}
    if "kwargs" in signature(layer).parameters and layer.__module__.startswith(conv.__name__):
        found = {"aggr": "add", "flow": "source_to_target"} | found  # PyG's layers hand these on
    if named:  # what a layer cannot do without, the name gives it
        found = {key: default for key, default in found.items() if default is not REQUIRED}
        found |= {p.name: p.default for p in _parameters(COUPLINGS[name]) if p.default is not REQUIRED}
    return found


def _parameters(maker: Callable[..., Module]) -> list[Parameter]:
    wild = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return [parameter for parameter in signature(maker).parameters.values() if parameter.kind not in wild]
