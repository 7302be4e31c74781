from torch import Tensor
from torch_geometric.nn import SimpleConv

from graphcon.kernels.coupling import Coupling
from graphcon.kernels.plan import Plan
from graphcon.kernels.structure import known


def bind(layer: SimpleConv, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Coupling | None:
    """SimpleConv: the sum over neighbours, weighted or not. It has no parameters."""
    if layer.combine_root is not None:
        return None
    about = known(edge_index)
    graph = about.graph(edge_index, x.size(0), False)

    def weights() -> Tensor:
        given = x.new_ones(edge_index.size(1)) if edge_weight is None else edge_weight
        return graph.spread(given, 0.0).unsqueeze(-1)

    edge = about.value(("simple", x.size(0), x.dtype), edge_weight, weights)
    return Coupling(Plan("fixed", 1, x.size(1), bare=True), (), graph, edge=edge)
