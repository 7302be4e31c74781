"""Rivals without weights of their own, against PyG's layers and against powers of a matrix."""

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import conv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import to_dense_adj

from graphcon.models.rivals.appnp import APPNP
from graphcon.models.rivals.gprgnn import GPRGNN
from graphcon.models.rivals.h2gcn import H2GCN, two_hops

from graphs import random_graph, ring

X, EDGES = torch.randn(9, 4, generator=torch.Generator().manual_seed(0)), random_graph(9, 8, undirected=True)


def _matrix(edge_index: Tensor, nodes: int) -> Tensor:
    index, weight = gcn_norm(edge_index, None, nodes)
    return to_dense_adj(index, edge_attr=weight, max_num_nodes=nodes)[0].t()


def test_appnp_is_pygs_appnp():
    weight = torch.rand(EDGES.size(1))
    core = APPNP(4, 7, alpha=0.2)
    torch.testing.assert_close(
        core(X, EDGES, edge_weight=weight), conv.APPNP(K=7, alpha=0.2)(X, EDGES, edge_weight=weight)
    )


def test_appnp_approaches_personalised_pagerank():
    limit = 0.1 * torch.linalg.solve(torch.eye(9) - 0.9 * _matrix(EDGES, 9), X)
    torch.testing.assert_close(APPNP(4, 200, alpha=0.1)(X, EDGES), limit, rtol=1e-4, atol=1e-5)


def test_gprgnn_is_a_polynomial_of_the_averaging_matrix():
    core = GPRGNN(4, 5)
    torch.nn.init.normal_(core.gamma)
    matrix, expected = _matrix(EDGES, 9), torch.zeros_like(X)
    for k in range(6):
        expected = expected + core.gamma[k] * torch.linalg.matrix_power(matrix, k) @ X
    torch.testing.assert_close(core(X, EDGES), expected, rtol=1e-4, atol=1e-5)


def test_gprgnn_that_has_learned_nothing_yet_is_appnp():
    torch.testing.assert_close(GPRGNN(4, 6, alpha=0.3)(X, EDGES), APPNP(4, 6, alpha=0.3)(X, EDGES))


@pytest.mark.parametrize(
    ("init", "expected"),
    [("PPR", [0.1, 0.09, 0.81]), ("NPPR", [0.9009, 0.0901, 0.0090]), ("SGC", [0.0, 0.0, 1.0])],
)
def test_the_weights_of_gprgnn_start_as_its_paper_says(init: str, expected: list[float]):
    gamma = GPRGNN(4, 2, alpha=0.1, Init=init).gamma
    torch.testing.assert_close(gamma.detach(), torch.tensor(expected), rtol=1e-3, atol=1e-4)
    assert float(GPRGNN(4, 2, Init="Random").gamma.detach().abs().sum()) == pytest.approx(1.0)


def test_the_two_neighbourhoods_of_h2gcn_on_a_path():
    """0 - 1 - 2 - 3: the distances are written down by hand, and a self-loop or a second direction changes nothing."""
    for edges in ([[0, 1, 2], [1, 2, 3]], [[0, 1, 1, 2, 3, 2], [1, 0, 2, 1, 2, 2]]):
        pairs, distance = two_hops(torch.tensor(edges).numpy(), 4)
        found = {(int(i), int(j)): int(d) for i, j, d in zip(*pairs, distance, strict=True)}
        one = {(0, 1): 1, (1, 2): 1, (2, 3): 1}
        two = {(0, 2): 2, (1, 3): 2}
        assert found == one | two | {(j, i): d for (i, j), d in (one | two).items()}


def test_h2gcn_keeps_all_rounds_side_by_side():
    """On a ring of six both neighbourhoods have two nodes, so each averages with 1/2."""
    x = torch.randn(6, 3)
    near = (x.roll(1, 0) + x.roll(-1, 0)) / 2
    far = (x.roll(2, 0) + x.roll(-2, 0)) / 2
    out = H2GCN(3, 2)(x, ring(6))
    assert out.shape == (6, 7 * 3)
    torch.testing.assert_close(out[:, :9], torch.cat([x, near, far], dim=-1))
    nearest, further = (near.roll(1, 0) + near.roll(-1, 0)) / 2, (far.roll(1, 0) + far.roll(-1, 0)) / 2
    torch.testing.assert_close(out[:, 9:15], torch.cat([nearest, further], dim=-1))


def test_h2gcn_refuses_a_depth_that_doubles_its_width_too_often():
    with pytest.raises(ValueError, match="num_layers=32: every round of H2GCN doubles the channels"):
        H2GCN(64, 32)
