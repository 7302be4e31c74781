from collections.abc import Callable

from torch import Tensor
from torch_geometric.nn import SAGEConv
from torch_geometric.nn.aggr import MaxAggregation, MeanAggregation, SumAggregation

from graphcon.kernels import _runtime
from graphcon.kernels.coupling import Coupling
from graphcon.kernels.maximum import maximum
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import known


def bind(layer: SAGEConv, x: Tensor, edge_index: Tensor) -> Callable[[Tensor], Tensor] | None:
    """GraphSAGE with mean, sum or maximum.

    Mean and sum are linear, so the map may come before the sum and share its product with the map of the node itself.
    """
    if layer.normalize or layer.project:
        return None
    if type(layer.aggr_module) is MaxAggregation:
        return _bind_max(layer, x, edge_index)
    mean = type(layer.aggr_module) is MeanAggregation
    if not mean and type(layer.aggr_module) is not SumAggregation:
        return None
    about = known(edge_index)
    graph = about.graph(edge_index, x.size(0), False)

    def weights() -> Tensor:
        ones = x.new_ones(edge_index.size(1), 1)
        if not mean:
            return ones
        count = x.new_zeros(x.size(0), 1).index_add(0, graph.row, ones)
        return 1.0 / count[graph.row]

    edge = about.value(("sage", x.size(0), mean, x.dtype), None, weights)
    plan = Plan("fixed", 1, x.size(1), skip=layer.root_weight)
    weight = (layer.lin_l.weight, layer.lin_r.weight) if layer.root_weight else (layer.lin_l.weight,)
    return Coupling(plan, weight, graph, bias=layer.lin_l.bias, edge=edge)


def _bind_max(layer: SAGEConv, x: Tensor, edge_index: Tensor) -> Callable[[Tensor], Tensor] | None:
    if not _runtime.pays(edge_index, x):
        return None
    graph = known(edge_index).graph(edge_index, x.size(0), False)

    def coupling(x: Tensor) -> Tensor:
        out = layer.lin_l(maximum(x, graph.ptr, graph.col, graph.tptr, graph.trow)[0])
        return out + layer.lin_r(x) if layer.root_weight else out

    return coupling
