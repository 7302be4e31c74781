"""What some rivals compute from the graph alone: right, once, and for every graph by itself."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, PNAConv
from torch_geometric.transforms import GDC
from torch_geometric.utils import degree, get_laplacian, to_dense_adj

from graphcon.models.rivals import _once
from graphcon.models.rivals.dgn import DGN, Field, eigenvectors
from graphcon.models.rivals.gat_ppr import GATPPR, pagerank_edges
from graphcon.models.rivals.geom_gcn import GeomGCN, geometric_edges, isomap
from graphcon.models.rivals.pna import PNA

from graphs import random_graph, star

X, EDGES = torch.randn(12, 4, generator=torch.Generator().manual_seed(0)), random_graph(12, 10, undirected=True)
PATH = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])


def _count(calls: list[int]):
    def build(edges: np.ndarray, nodes: int) -> np.ndarray:
        calls.append(nodes)
        return np.bincount(edges[1], minlength=nodes).astype(float)[:, None]

    return build


def test_a_graph_is_worked_on_once_in_whatever_batch_it_comes():
    calls: list[int] = []
    first, second = random_graph(6, 5, 1), random_graph(7, 5, 2)
    together = torch.cat([first, second + 6], dim=1)
    turned = torch.cat([second, first + 7], dim=1)
    for edges in (together, turned, together.clone()):
        found = _once.per_node("once", edges, 13, _count(calls))
        torch.testing.assert_close(found[:, 0], degree(edges[1], 13).double())
    assert calls == [6, 7]


def test_a_changed_graph_is_another_graph_even_if_changed_behind_the_tensors_back():
    calls: list[int] = []
    edges = random_graph(6, 5, 3)
    before = _once.per_node("changed", edges, 6, _count(calls))
    edges.numpy()[1, 0] = (edges.numpy()[1, 0] + 2) % 6
    after = _once.per_node("changed", edges, 6, _count(calls))
    assert calls == [6, 6]
    assert not torch.equal(before, after)


def test_parts_that_are_not_in_order_get_their_own_answers():
    """Nodes 0, 2, 4 are a path and 1, 3 are another; node 5 is alone."""
    edges = torch.tensor([[0, 2, 1], [2, 4, 3]])
    found, size = _once.per_edge("parts", edges, 6, lambda edges, nodes: (edges[::-1], np.full(edges.shape[1], nodes)))
    assert {(int(i), int(j), int(n)) for i, j, n in zip(*found, size, strict=True)} == {(2, 0, 3), (4, 2, 3), (3, 1, 2)}


def _dense(index: Tensor, value: Tensor) -> Tensor:
    return to_dense_adj(index, edge_attr=value, max_num_nodes=12)[0]


def test_pagerank_is_that_of_pygs_transform():
    wanted = GDC(
        normalization_out=None,
        diffusion_kwargs={"method": "ppr", "alpha": 0.2},
        sparsification_kwargs={"method": "topk", "k": 5, "dim": 0},
    )(Data(edge_index=EDGES, num_nodes=12))
    edges, values = pagerank_edges(EDGES.numpy(), 12, 0.2, 5)
    found = _dense(torch.from_numpy(edges), torch.from_numpy(values).float())
    torch.testing.assert_close(found, _dense(wanted.edge_index, wanted.edge_attr), rtol=1e-4, atol=1e-5)


def test_gat_ppr_is_gat_on_that_graph_with_the_rank_in_its_scores():
    core = GATPPR(4, 1, act=None, alpha=0.2, k=5, heads=2)
    layer = GATConv(4, 2, heads=2, edge_dim=1, add_self_loops=False)
    layer.load_state_dict(core.layers[0].state_dict())
    edges, rank = (torch.from_numpy(array) for array in pagerank_edges(EDGES.numpy(), 12, 0.2, 5))
    torch.testing.assert_close(core(X, EDGES), layer(X, edges, edge_attr=rank.float().log().unsqueeze(-1)))


def test_eigenvectors_are_those_of_the_laplacian_in_either_way_of_finding_them(monkeypatch: pytest.MonkeyPatch):
    index, weight = get_laplacian(EDGES, num_nodes=12)
    matrix = to_dense_adj(index, edge_attr=weight)[0].double().numpy()
    for most in (1000, 5):
        monkeypatch.setattr("graphcon.models.rivals.dgn._DENSE", most)
        found = eigenvectors(EDGES.numpy(), 12, 2)
        values = np.linalg.eigvalsh(matrix)[1:3]
        np.testing.assert_allclose(matrix @ found, found * values, atol=1e-6)


def test_dgn_differentiates_and_averages_along_a_path():
    """Along a path the first eigenvector is monotone: the derivative of a linear signal is the same inside."""
    core = DGN(1, 1, act=None, norm="none", residual=False, aggregators=("dir1-av", "dir1-dx"))
    layer = core.layers[0]
    torch.nn.init.zeros_(layer.lin.bias)
    x = torch.arange(5.0).unsqueeze(-1)
    edges = torch.from_numpy(np.concatenate([PATH, PATH[::-1]], axis=1))
    step = np.abs(np.diff(eigenvectors(PATH, 5, 1)[:, 0]))
    inner = [((i - 1) * step[i - 1] + (i + 1) * step[i]) / (step[i - 1] + step[i]) for i in (1, 2, 3)]
    for weight, expected in (([0.0, 1.0, 0.0], [1.0, *inner, 3.0]), ([0.0, 0.0, 1.0], [1.0] * 5)):
        layer.lin.weight.data = torch.tensor([weight])
        torch.testing.assert_close(core(x, edges)[:, 0], torch.tensor(expected, dtype=torch.float32))


def test_dgn_does_not_see_the_sign_of_an_eigenvector():
    core = DGN(4, 1, aggregators=("max", "dir1-av", "dir2-dx"))
    fields = core.prepare(X, EDGES).given["fields"]
    flipped = [Field(-field.signed, field.absolute) for field in fields]
    torch.testing.assert_close(core.layers[0](X, EDGES, flipped), core.layers[0](X, EDGES, fields))
    with pytest.raises(ValueError, match="aggregators: 'median' is unknown"):
        DGN(4, 2, aggregators=("median",))


def test_isomap_draws_a_path_as_a_line_of_its_length():
    plane = isomap(PATH, 5)
    np.testing.assert_allclose(np.abs(np.diff(plane[:, 0])), 1.0, atol=1e-9)
    np.testing.assert_allclose(plane[:, 1], 0.0, atol=1e-6)


def test_isomap_keeps_the_distances_of_a_grid_in_order_and_does_not_depend_on_the_numbering():
    edges = EDGES.numpy()
    plane, order = isomap(edges, 12), np.random.default_rng(0).permutation(12)
    np.testing.assert_allclose(isomap(np.argsort(order)[edges], 12), plane[order], atol=1e-8)
    with pytest.raises(ValueError, match="6000 nodes, but 5000 at most"):
        isomap(edges, 6000)


def test_the_relations_of_geom_gcn_are_the_quadrants_of_both_neighbourhoods():
    pairs, kind = geometric_edges(EDGES.numpy(), 12)
    plane = isomap(EDGES.numpy(), 12)
    in_graph = {(int(i), int(j)) for (i, j), k in zip(pairs.T, kind, strict=True) if k < 4}
    assert in_graph == {(int(i), int(j)) for i, j in EDGES.t()} | {(i, i) for i in range(12)}
    radius = max(np.linalg.norm(plane[i] - plane[j]) for (i, j), k in zip(pairs.T, kind, strict=True) if k >= 4)
    near = np.linalg.norm(plane[:, None] - plane[None], axis=-1) <= radius + 1e-9
    assert int(near.sum()) == int((kind >= 4).sum()) == EDGES.size(1) + 12  # as many as in the graph
    for (i, j), k in zip(pairs.T, kind, strict=True):
        right, upper = plane[i] - plane[j] > 1e-9
        assert k % 4 == 2 * right + upper


def test_geom_gcn_sums_over_every_relation_by_itself():
    core = GeomGCN(4, 1, act=None)
    edges = core.prepare(X, EDGES)
    kind, weight = edges.given["edge_type"], edges.given["edge_weight"]
    parts = []
    for k in range(8):
        matrix = torch.zeros(12, 12)
        of = kind == k
        matrix[edges.index[1, of], edges.index[0, of]] = weight[of]
        parts.append(matrix @ X)
    torch.testing.assert_close(core(X, EDGES), core.layers[0].lin(torch.cat(parts, dim=-1)))


def test_pna_is_pygs_layer_with_the_degrees_of_the_first_graph_it_sees():
    histogram = torch.bincount(degree(EDGES[1], 12, dtype=torch.long))
    names, scalers = ["mean", "min", "max", "std"], ["identity", "amplification", "attenuation"]
    core = PNA(4, 1, act=None, norm="none", residual=False, towers=2)
    core(X, EDGES)
    layer = PNAConv(4, 4, names, scalers, histogram, towers=2, divide_input=True)
    layer.load_state_dict(core.layers[0].state_dict() | {k: v for k, v in layer.state_dict().items() if "avg_deg" in k})
    torch.testing.assert_close(core(X, EDGES), layer(X, EDGES))
    seen = {name: value.clone() for name, value in core.named_buffers()}
    core(X, torch.cat([EDGES, star(11)], dim=1))
    assert all(torch.equal(value, seen[name]) for name, value in core.named_buffers())
