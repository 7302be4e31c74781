from torch import Tensor
from torch_geometric.nn import GATConv

from graphcon.couplings import IdentityMap
from graphcon.kernels.coupling import Coupling
from graphcon.kernels.layers.edges import linear_terms
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import identity, known


def bind(layer: GATConv, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Coupling | None:
    """GAT: heads, concat or mean, attention dropout, a residual map, edge features.

    The two halves of the score are linear in x, so they are columns of the one product.
    """
    assert layer.lin is not None  # a layer of two widths does not come here
    heads, width = layer.heads, layer.out_channels
    graph = known(edge_index).graph(edge_index, x.size(0), layer.add_self_loops)
    edge = None
    if layer.lin_edge is not None and edge_attr is not None:
        vectors = (layer.att_edge.view(heads, width, 1) * layer.lin_edge.weight.view(heads, width, -1)).sum(1)
        edge = linear_terms(layer, graph, edge_attr, vectors, x.size(0))
        if edge is None:
            return None
    plan = Plan(
        "additive",
        heads,
        width,
        concat=layer.concat,
        mix=1.0 if layer.concat else 1.0 / heads,
        leak=layer.negative_slope,
        edge_dropout=layer.dropout if layer.training else 0.0,
    )
    weight = identity(x.size(1), x) if isinstance(layer.lin, IdentityMap) else layer.lin.weight
    coupling = Coupling(plan, (weight, layer.att_src, layer.att_dst), graph, bias=layer.bias, edge=edge)
    return coupling if layer.res is None else coupling.plus_linear(layer.res.weight)
