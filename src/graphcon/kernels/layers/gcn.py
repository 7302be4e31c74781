from torch import Tensor
from torch_geometric.nn import GCNConv

from graphcon.couplings import IdentityMap
from graphcon.kernels.coupling import Coupling
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import Graph, known


def bind(layer: GCNConv, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Coupling | None:
    r"""GCN: weights, self-loops, improved, with and without normalisation. The weight of an edge is fixed.

    .. math::
        a_{ij} = \frac{e_{ij}}{\sqrt{\hat d_i \hat d_j}}
    """
    if layer.cached:  # it would go on with the first graph it saw
        return None
    loops = bool(layer.normalize and layer.add_self_loops)
    about = known(edge_index)
    graph = about.graph(edge_index, x.size(0), loops)

    def weights() -> Tensor:
        # Without weights PyG counts every edge as one, also the loops it adds.
        given = x.new_ones(edge_index.size(1)) if edge_weight is None else edge_weight
        fill = 2.0 if layer.improved and edge_weight is not None else 1.0
        slots = graph.spread(given, fill)
        return (_normalised(slots, graph, x.size(0)) if layer.normalize else slots).unsqueeze(-1)

    key = ("gcn", x.size(0), loops, layer.normalize, layer.improved, x.dtype)
    edge = about.value(key, edge_weight, weights)
    bare = isinstance(layer.lin, IdentityMap)
    plan = Plan("fixed", 1, x.size(1), bare=bare)
    return Coupling(plan, () if bare else (layer.lin.weight,), graph, bias=layer.bias, edge=edge)


def _normalised(weight: Tensor, graph: Graph, nodes: int) -> Tensor:
    degree = weight.new_zeros(nodes).index_add(0, graph.row, weight)
    scale = degree.pow(-0.5)
    scale = scale.masked_fill(scale == float("inf"), 0.0)
    return scale[graph.row] * weight * scale[graph.col.long()]
