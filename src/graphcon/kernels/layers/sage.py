import torch
from torch import Tensor
from torch_geometric.nn import SAGEConv
from torch_geometric.nn.aggr import MeanAggregation, SumAggregation

from graphcon.kernels.coupling import Coupling
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import graph_of, remembered


def bind(layer: SAGEConv, x: Tensor, edge_index: Tensor) -> Coupling | None:
    """GraphSAGE with mean or sum: linear, so the map may come before the sum and share its product."""
    mean = type(layer.aggr_module) is MeanAggregation
    if layer.normalize or layer.project or not (mean or type(layer.aggr_module) is SumAggregation):
        return None
    graph = graph_of(edge_index, x.size(0), False)

    def weights() -> Tensor:
        ones = x.new_ones(edge_index.size(1), 1)
        if not mean:
            return ones
        count = x.new_zeros(x.size(0), 1).index_add(0, graph.row, ones)
        return 1.0 / count[graph.row]

    edge = remembered(edge_index, ("sage", x.size(0), mean, x.dtype), None, weights)
    plan = Plan("fixed", 1, x.size(1), 0, True, layer.root_weight, False, 1.0, 0.0, 0.0)
    weight = torch.cat([layer.lin_l.weight, layer.lin_r.weight]) if layer.root_weight else layer.lin_l.weight
    return Coupling(plan, weight, graph, bias=layer.lin_l.bias, edge=edge)
