"""Couplings by name: everything in the paper, and every layer of PyG."""

from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from typing import Any

from torch.nn import Linear, Module, ReLU, Sequential
from torch_geometric.nn import conv

from graphcon.couplings.attention import DotProductConv
from graphcon.couplings.gated_gcn import GatedGCNConv
from graphcon.couplings.monet import MoNetConv
from graphcon.couplings.pointwise import PointwiseConv
from graphcon.couplings.spline import SplineConv


def _heads(channels: int, heads: int | None) -> int:
    if heads is None:
        return next(h for h in (4, 2, 1) if channels % h == 0)
    if channels % heads:
        raise ValueError(f"heads={heads} does not divide the {channels} channels that the heads are to fill together")
    return heads


def _gat(channels: int, heads: int | None = None, **kwargs: Any) -> Module:
    heads = _heads(channels, heads)
    return conv.GATConv(channels, channels // heads, heads=heads, **kwargs)


def _gin(channels: int, **kwargs: Any) -> Module:
    return conv.GINConv(Sequential(Linear(channels, channels), ReLU(), Linear(channels, channels)), **kwargs)


def _cheb(channels: int, K: int = 3, **kwargs: Any) -> Module:
    return conv.ChebConv(channels, channels, K=K, **kwargs)


#: What each name builds, from the number of channels and the options of its layer.
COUPLINGS: dict[str, Callable[..., Module]] = {
    "gcn": lambda channels, **kwargs: conv.GCNConv(channels, channels, **kwargs),
    "gat": _gat,
    "transformer": lambda channels, **kwargs: DotProductConv(channels, channels, **kwargs),
    "gin": _gin,
    "gatedgcn": lambda channels, **kwargs: GatedGCNConv(channels, channels, **kwargs),
    "sage": lambda channels, **kwargs: conv.SAGEConv(channels, channels, **kwargs),
    "monet": lambda channels, **kwargs: MoNetConv(channels, channels, **kwargs),
    "cheb": _cheb,
    "spline": lambda channels, **kwargs: SplineConv(channels, channels, **kwargs),
    "mlp": lambda channels, **kwargs: PointwiseConv(channels, channels, **kwargs),
}


def build(name: str, channels: int, **kwargs: Any) -> Module:
    """Builds the coupling of that name: one of `COUPLINGS`, or a class of ``torch_geometric.nn.conv``.

    Args:
        name: The name, e.g. ``"gat"`` or ``"GATv2Conv"``.
        channels: The number of channels it maps to itself.
        **kwargs: Options of the layer, e.g. ``heads=8``.
    """
    if name in conv.classes and name != "MessagePassing":
        layer = getattr(conv, name)
        widths = [key for key in ("in_channels", "out_channels", "channels") if key in signature(layer).parameters]
        return layer(**dict.fromkeys(widths, channels), **kwargs)
    if name not in COUPLINGS:
        near = get_close_matches(name, [*COUPLINGS, *conv.classes], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"coupling={name!r} is unknown; choose one of {', '.join(map(repr, COUPLINGS))}, or a layer of "
            f"torch_geometric.nn by its class name.{hint}"
        )
    return COUPLINGS[name](channels, **kwargs)
