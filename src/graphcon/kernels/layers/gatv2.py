from torch import Tensor
from torch_geometric.nn import GATv2Conv

from graphcon.kernels.coupling import Coupling
from graphcon.kernels.layers.edges import linear_terms
from graphcon.kernels.layers.maps import biases
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import known


def bind(layer: GATv2Conv, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Coupling | None:
    """GATv2: heads, concat or mean, attention dropout, shared weights, a residual map, edge features."""
    graph = known(edge_index).graph(edge_index, x.size(0), layer.add_self_loops)
    edge = None
    if edge_attr is not None:
        lin = layer.lin_edge
        edge = None if lin is None else linear_terms(layer, graph, edge_attr, lin.weight, x.size(0))
        if edge is None:
            return None
    heads, width = layer.heads, layer.out_channels
    shift = biases(layer.lin_l, layer.lin_r)
    plan = Plan(
        "dynamic",
        heads,
        width,
        concat=layer.concat,
        shift=bool(shift),
        mix=1.0 if layer.concat else 1.0 / heads,
        leak=layer.negative_slope,
        edge_dropout=layer.dropout if layer.training else 0.0,
    )
    coupling = Coupling(
        plan,
        (layer.lin_l.weight, layer.lin_r.weight),
        graph,
        shift=shift,
        bias=layer.bias,
        edge=edge,
        vector=(layer.att,),
    )
    return coupling if layer.res is None else coupling.plus_linear(layer.res.weight)
