from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn import TransformerConv

from graphcon.kernels import _runtime
from graphcon.kernels.coupling import Coupling
from graphcon.kernels.layers.edges import given_as_expected
from graphcon.kernels.layers.maps import biases
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import known


def bind(
    layer: TransformerConv, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None
) -> Callable[[Tensor], Tensor] | None:
    """PyG's transformer layer: heads, concat or mean, attention dropout, edge features, the skip connection, beta."""
    if not given_as_expected(edge_attr, layer.edge_dim) or (layer.beta and not _runtime.pays(edge_index, x)):
        return None
    graph = known(edge_index).graph(edge_index, x.size(0), False)
    edge = None if layer.lin_edge is None else graph.spread(layer.lin_edge(edge_attr), 0.0)
    heads, width = layer.heads, layer.out_channels
    lins = [layer.lin_query, layer.lin_key, layer.lin_value]
    skip = layer.root_weight and not layer.beta
    lins += [layer.lin_skip] if skip else []
    shift = biases(*lins)
    plan = Plan(
        "dot",
        heads,
        width,
        key=width,
        concat=layer.concat,
        skip=skip,
        shift=bool(shift),
        mix=1.0 if layer.concat else 1.0 / heads,
        edge_dropout=layer.dropout if layer.training else 0.0,
    )
    coupling = Coupling(plan, tuple(lin.weight for lin in lins), graph, shift=shift, edge=edge)
    if not layer.beta:
        return coupling
    return _gated_skip(layer, coupling) if coupling.alike(x) else None


def _gated_skip(layer: Any, attention: Coupling) -> Callable[[Tensor], Tensor]:
    """With ``beta=True`` a learned share of the skip connection takes the place of as much of the attention."""

    def coupling(x: Tensor) -> Tensor:
        out, own = attention(x), layer.lin_skip(x)
        share = layer.lin_beta(torch.cat([out, own, out - own], dim=-1)).sigmoid()
        return share * own + (1 - share) * out

    return coupling
