"""Every layer the kernels serve, in the options they cover."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import Linear, Module, Sequential, Tanh
from torch_geometric import nn as pyg

from graphcon import couplings
from graphcon.couplings import DotProductConv, GatedGCNConv, MoNetConv, Residual

CHANNELS, EDGE_DIM = 8, 3


class Case(NamedTuple):
    """A layer, and what it takes per edge: nothing, a weight, or a feature."""

    build: Callable[[], Module]
    takes: str = ""

    def per_edge(self, edges: int, dtype: torch.dtype, grad: bool = False) -> dict[str, Tensor]:
        if not self.takes:
            return {}
        size = (edges,) if self.takes == "edge_weight" else (edges, EDGE_DIM)
        return {self.takes: (torch.rand(size, dtype=dtype) + 0.5).requires_grad_(grad)}


def _mlp() -> Module:
    return Sequential(Linear(CHANNELS, CHANNELS), Tanh(), Linear(CHANNELS, CHANNELS))


C = CHANNELS
CASES: dict[str, Case] = {
    "gcn": Case(lambda: pyg.GCNConv(C, C)),
    "gcn weighted": Case(lambda: pyg.GCNConv(C, C), "edge_weight"),
    "gcn improved": Case(lambda: pyg.GCNConv(C, C, improved=True), "edge_weight"),
    "gcn improved unweighted": Case(lambda: pyg.GCNConv(C, C, improved=True, bias=False)),
    "gcn without loops": Case(lambda: pyg.GCNConv(C, C, add_self_loops=False)),
    "gcn as it is": Case(lambda: pyg.GCNConv(C, C, normalize=False), "edge_weight"),
    "gcn without values": Case(lambda: couplings.build("gcn", C, values=False), "edge_weight"),
    "gat": Case(lambda: pyg.GATConv(C, 2, heads=4)),
    "gat mean": Case(lambda: pyg.GATConv(C, C, heads=3, concat=False, residual=True)),
    "gat attributed": Case(lambda: pyg.GATConv(C, 2, heads=4, edge_dim=EDGE_DIM), "edge_attr"),
    "gat filled": Case(lambda: pyg.GATConv(C, C, edge_dim=EDGE_DIM, fill_value=0.5, bias=False), "edge_attr"),
    "gat without loops": Case(
        lambda: pyg.GATConv(C, C, edge_dim=EDGE_DIM, add_self_loops=False, negative_slope=0.1), "edge_attr"
    ),
    "gat without values": Case(lambda: couplings.build("gat", C, heads=4, values=False)),
    "gatv2": Case(lambda: pyg.GATv2Conv(C, 2, heads=4)),
    "gatv2 mean": Case(lambda: pyg.GATv2Conv(C, C, heads=2, concat=False, share_weights=True, residual=True)),
    "gatv2 bare": Case(lambda: pyg.GATv2Conv(C, C, bias=False, add_self_loops=False)),
    "gatv2 attributed": Case(lambda: pyg.GATv2Conv(C, 4, heads=2, edge_dim=EDGE_DIM), "edge_attr"),
    "gatv2 filled": Case(
        lambda: pyg.GATv2Conv(C, C, heads=2, concat=False, edge_dim=EDGE_DIM, fill_value=0.5), "edge_attr"
    ),
    "transformer": Case(lambda: pyg.TransformerConv(C, 4, heads=2)),
    "transformer mean": Case(lambda: pyg.TransformerConv(C, C, heads=2, concat=False, bias=False)),
    "transformer bare": Case(lambda: pyg.TransformerConv(C, C, root_weight=False)),
    "transformer attributed": Case(lambda: pyg.TransformerConv(C, 4, heads=2, edge_dim=EDGE_DIM), "edge_attr"),
    "transformer mean attributed": Case(
        lambda: pyg.TransformerConv(C, C, heads=2, concat=False, edge_dim=EDGE_DIM), "edge_attr"
    ),
    "transformer beta": Case(lambda: pyg.TransformerConv(C, 4, heads=2, beta=True)),
    "dot product": Case(lambda: DotProductConv(C, C, heads=2)),
    "dot product bare": Case(lambda: DotProductConv(C, C, add_self_loops=False, values=False, bias=False)),
    "sage": Case(lambda: pyg.SAGEConv(C, C)),
    "sage sum": Case(lambda: pyg.SAGEConv(C, C, aggr="sum", root_weight=False)),
    "sage max": Case(lambda: pyg.SAGEConv(C, C, aggr="max")),
    "simple": Case(lambda: pyg.SimpleConv(aggr="sum")),
    "simple weighted": Case(lambda: pyg.SimpleConv(aggr="sum"), "edge_weight"),
    "gin": Case(lambda: pyg.GINConv(_mlp(), eps=0.1, train_eps=True)),
    "res gated": Case(lambda: pyg.ResGatedGraphConv(C, C)),
    "res gated bare": Case(lambda: pyg.ResGatedGraphConv(C, C, root_weight=False, bias=False)),
    "res gated attributed": Case(lambda: pyg.ResGatedGraphConv(C, C, edge_dim=EDGE_DIM), "edge_attr"),
    "gated gcn": Case(lambda: GatedGCNConv(C, C)),
    "gated gcn bare": Case(lambda: GatedGCNConv(C, C, bias=False)),
    "gmm": Case(lambda: pyg.GMMConv(C, C, dim=EDGE_DIM, kernel_size=2), "edge_attr"),
    "gmm sum": Case(lambda: pyg.GMMConv(C, C, dim=EDGE_DIM, kernel_size=3, aggr="add", bias=False), "edge_attr"),
    "monet": Case(lambda: MoNetConv(C, C)),
    "cheb": Case(lambda: pyg.ChebConv(C, C, K=3)),
    "cheb weighted": Case(lambda: pyg.ChebConv(C, C, K=4, normalization="rw"), "edge_weight"),
    "cheb unnormalised": Case(lambda: pyg.ChebConv(C, C, K=2, normalization=None, bias=False)),
    "residual gcn": Case(lambda: Residual(pyg.GCNConv(C, C), C)),
    "residual gcn without values": Case(lambda: Residual(couplings.build("gcn", C, values=False), C)),
    "residual dot product": Case(lambda: Residual(DotProductConv(C, C), C)),
    "residual gin": Case(lambda: Residual(pyg.GINConv(_mlp()), C)),
    "residual sage": Case(lambda: Residual(pyg.SAGEConv(C, C), C)),
}


def build(name: str, dtype: torch.dtype = torch.float32, seed: int = 0) -> Module:
    """The layer with random parameters, biases too."""
    torch.manual_seed(seed)
    layer = CASES[name].build().to(dtype)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return layer
