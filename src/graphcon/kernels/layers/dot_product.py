from typing import Any

from torch import Tensor

from graphcon.kernels.coupling import Coupling
from graphcon.kernels.layers.maps import biases
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import constant, identity, known


def bind(layer: Any, x: Tensor, edge_index: Tensor) -> Coupling:
    """The paper's transformer attention, :class:`graphcon.couplings.DotProductConv`, with all it can do."""
    heads, width = layer.heads, layer.key_channels
    values = identity(x.size(1), x) if layer.lin_value is None else layer.lin_value.weight
    shift = biases(layer.lin_query, layer.lin_key)
    shift = (*shift, constant(0.0, len(values), values)) if shift else ()
    dropout = layer.dropout if layer.training else 0.0
    plan = Plan("dot-mean", heads, x.size(1), key=width, shift=bool(shift), mix=1.0 / heads, edge_dropout=dropout)
    return Coupling(
        plan,
        (layer.lin_query.weight, layer.lin_key.weight, values),
        known(edge_index).graph(edge_index, x.size(0), layer.add_self_loops),
        shift=shift,
        bias=layer.bias,
    )
