"""Wrap a layer of your own: check it, make it 32 layers deep, see that neighbours stay apart.

python examples/wrap_your_layer.py
"""

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing

import graphcon
from graphcon import GraphCON
from graphcon.diagnostics import dirichlet_energy


class MyConv(MessagePassing):
    """The mean of what the neighbours say, through a linear map."""

    def __init__(self, channels: int):
        super().__init__(aggr="mean")
        self.in_channels = channels
        self.lin = torch.nn.Linear(channels, channels)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.propagate(edge_index, x=self.lin(x))

    def message(self, x_j: Tensor) -> Tensor:
        return x_j


torch.manual_seed(0)
layer = MyConv(16)
print(graphcon.check_coupling(layer))

graph = graphcon.data.load("cora").data
x, edge_index = torch.rand(len(graph["x"]), 16), graph["edge_index"]
deep = GraphCON(layer, steps=32, act="tanh")
print(deep.stability)

plain = x
with torch.no_grad():
    for _ in range(32):
        plain = layer(plain, edge_index).tanh()
    wrapped = deep(x, edge_index)
print(
    f"Dirichlet energy after 32 layers: plain {dirichlet_energy(plain, edge_index):.1e}, "
    f"in oscillators {dirichlet_energy(wrapped, edge_index):.1e}"
)
