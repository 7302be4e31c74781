import math

import torch
from torch import Tensor
from torch_geometric.nn import TransformerConv

from graphcon.kernels.coupling import Coupling
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import known


def bind(layer: TransformerConv, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Coupling | None:
    """PyG's transformer layer: heads, concat or mean, attention dropout, the skip connection."""
    if layer.beta or edge_attr is not None or layer.lin_edge is not None or not isinstance(layer.in_channels, int):
        return None
    heads, width = layer.heads, layer.out_channels
    scale = 1.0 / math.sqrt(width)
    lins = [layer.lin_key, layer.lin_value]
    lins += [layer.lin_skip] if layer.root_weight else []
    weight = torch.cat([scale * layer.lin_query.weight, *(lin.weight for lin in lins)])
    shift = None
    if layer.lin_query.bias is not None:
        shift = torch.cat([scale * layer.lin_query.bias, *(lin.bias for lin in lins)])
    plan = Plan(
        "dot", heads, width, width, layer.concat, layer.root_weight, shift is not None,
        1.0 if layer.concat else 1.0 / heads, 0.0, layer.dropout if layer.training else 0.0,
    )  # fmt: skip
    return Coupling(plan, weight, known(edge_index).graph(edge_index, x.size(0), False), shift=shift)
