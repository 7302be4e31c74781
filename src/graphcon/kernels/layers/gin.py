from collections.abc import Callable

from torch import Tensor
from torch_geometric.nn import GINConv

from graphcon.kernels import _runtime
from graphcon.kernels.propagate import propagate, rows_of
from graphcon.kernels.structure import known


def bind(layer: GINConv, x: Tensor, edge_index: Tensor) -> Callable[[Tensor], Tensor] | None:
    """GIN: the sum over the neighbours on the kernels; its network is called as it is."""
    if not _runtime.pays(edge_index, x, share=0.2):  # most of its time is the network's
        return None
    about = known(edge_index)
    rows = rows_of(about.graph(edge_index, x.size(0), False))
    ones = about.value(("ones", x.dtype), None, lambda: x.new_ones(edge_index.size(1), 1))

    def coupling(x: Tensor) -> Tensor:
        return layer.nn(propagate(x, ones, *rows) + (1 + layer.eps) * x)

    return coupling
