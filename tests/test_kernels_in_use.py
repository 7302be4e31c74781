"""What people do with layers, on the kernels: the result is that of the layer's own path."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from graphcon import GraphCON, kernels

from graphs import random_graph
from kernel_cases import CHANNELS, build

NODES = 9


def _gradients(network: GraphCON, loss: Tensor) -> list[Tensor]:
    network.zero_grad()
    loss.backward()
    return [p.grad.clone() for p in network.parameters() if p.grad is not None]


def _hessian(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    return torch.autograd.functional.hessian(lambda x: network(x, edge_index).square().sum(), x)


def _hessian_of_frozen(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    network.requires_grad_(False)
    return _hessian(network, x, edge_index)


def _two_inputs(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    return _gradients(network, (network(x, edge_index) * network(2 * x, edge_index)).sum())


def _added_up(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    network.zero_grad()
    for scale in (1.0, 2.0):
        network(scale * x, edge_index).square().sum().backward()
    return [p.grad.clone() for p in network.parameters() if p.grad is not None]


def _frozen(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    first = next(network.parameters()).requires_grad_(False)
    found = _gradients(network, network(x, edge_index).square().sum())
    first.requires_grad_(True)
    return found


def _turned_weights(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    for parameter in network.parameters():
        if parameter.dim() == 2:
            parameter.data = parameter.data.t().contiguous().t()
    return _gradients(network, network(x, edge_index).square().sum())


def _one_row_for_all(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    return network(x[:1].expand_as(x), edge_index)


def _changed_in_place(network: GraphCON, x: Tensor, edge_index: Tensor) -> Any:
    return _gradients(network, network(x, edge_index).mul_(2).sum())


@pytest.mark.parametrize(
    "use",
    [
        _hessian,
        _hessian_of_frozen,
        _two_inputs,
        _added_up,
        _frozen,
        _turned_weights,
        _one_row_for_all,
        _changed_in_place,
    ],
)
@pytest.mark.parametrize("name", ["gcn", "gat", "transformer", "gated gcn"])
def test_it_is_as_without_kernels(name: str, use: Callable[[GraphCON, Tensor, Tensor], Any]):
    network = GraphCON(build(name), 3, act="tanh")
    x, edge_index = torch.randn(NODES, CHANNELS), random_graph(NODES, 20)
    found = use(network, x, edge_index)
    with kernels.disabled():
        torch.testing.assert_close(found, use(network, x, edge_index), rtol=1e-3, atol=1e-4)
