"""Measures of states: laws they obey, on plain tensors, whole trajectories and batches."""

import math

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import to_dense_adj

from graphcon.diagnostics import (
    dirichlet_energy,
    edge_homophily,
    effective_rank,
    mean_average_distance,
    measure_state,
    node_homophily,
    numerical_rank,
    state_table,
    trajectory_table,
)
from graphcon.models import GraphCONNet

from graphs import random_graph, ring, star

NODES, CHANNELS = 12, 5
EDGES = random_graph(NODES, 20, undirected=True)
DIRECTED = torch.tensor([[0, 1, 1, 3], [1, 2, 3, 2]])


@pytest.fixture
def x():
    return torch.randn(NODES, CHANNELS, dtype=torch.double, generator=torch.Generator().manual_seed(0))


def constant(nodes: int = NODES) -> torch.Tensor:
    return torch.tensor([1.0, -2.0, 0.5, 3.0, 0.1], dtype=torch.double).expand(nodes, -1)


def test_a_constant_state_has_no_energy_no_distance_and_rank_one():
    for relative in (False, True):
        assert dirichlet_energy(constant(), EDGES, relative=relative) == 0.0
    assert mean_average_distance(constant(), EDGES) == pytest.approx(0.0, abs=1e-15)
    assert mean_average_distance(constant()) == pytest.approx(0.0, abs=1e-15)
    assert effective_rank(constant()) == pytest.approx(1.0)
    assert numerical_rank(constant()) == 1


def test_a_state_of_zeros_has_nothing_of_anything():
    assert set(measure_state(torch.zeros(NODES, CHANNELS), EDGES).values()) == {0.0}


def test_orthogonal_features_fill_all_directions():
    x = torch.eye(4, dtype=torch.double)
    assert effective_rank(x) == pytest.approx(4.0)
    assert numerical_rank(x) == 4
    assert mean_average_distance(x) == pytest.approx(1.0)
    assert mean_average_distance(x, ring(4)) == pytest.approx(1.0)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_state_that_is_not_finite_is_not_told_to_be_smooth(bad: float):
    x = torch.randn(NODES, CHANNELS)
    x[0, 0] = bad
    measured = measure_state(x, EDGES)
    for name in ("energy_relative", "energy_relative_by_degree", "effective_rank", "mad"):
        assert measured[name] != measured[name], name  # NaN


def test_half_precision_is_measured_in_single():
    x = torch.randn(NODES, CHANNELS).bfloat16()
    assert measure_state(x, EDGES) == measure_state(x.float(), EDGES)
    assert mean_average_distance(x, EDGES) == mean_average_distance(x.float(), EDGES)


def test_what_are_no_edges_is_refused_by_name():
    x = torch.randn(NODES, CHANNELS)
    with pytest.raises(ValueError, match="use edge_index.t()"):
        dirichlet_energy(x, EDGES.t())
    with pytest.raises(ValueError, match="edge_index names node"):
        mean_average_distance(x, EDGES + 1)
    with pytest.raises(TypeError, match="edge_index is a sparse matrix"):
        dirichlet_energy(x, torch.eye(NODES).to_sparse())
    with pytest.raises(ValueError, match="has no edge_index"):
        trajectory_table(GraphCONNet(CHANNELS, 4, 2), Data(x=x))


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_a_state_that_has_all_but_vanished_or_exploded_keeps_its_energy_and_size_in_the_table(size: float):
    x = torch.randn(NODES, CHANNELS, generator=torch.Generator().manual_seed(0))
    measured, expected = measure_state(size * x, EDGES), measure_state(size * x.double(), EDGES)
    for name in ("energy", "energy_by_degree", "size"):
        assert measured[name] == pytest.approx(expected[name], rel=1e-4)
        assert 0 < measured[name] < float("inf")


def test_only_the_energies_that_are_not_relative_know_the_scale(x):
    small, large = (measure_state(scale * x, EDGES) for scale in (1.0, 1e-6))
    for name in ("energy_relative", "mad", "effective_rank", "rank"):
        assert large[name] == pytest.approx(small[name])
    for name in ("energy", "energy_by_degree"):
        assert large[name] == pytest.approx(1e-12 * small[name])


def test_no_measure_knows_how_nodes_are_numbered(x):
    order = torch.randperm(NODES, generator=torch.Generator().manual_seed(1))
    place = order.argsort()
    for edge_index in (EDGES, DIRECTED):
        assert measure_state(x[order], place[edge_index]) == pytest.approx(measure_state(x, edge_index))


def test_energy_and_distance_are_the_sums_they_say(x):
    energy = distance = 0.0
    for i in range(NODES):
        neighbours = EDGES[0, EDGES[1] == i].tolist()
        energy += sum(float((x[i] - x[j]).square().sum()) for j in neighbours) / NODES
        cosines = [float(torch.cosine_similarity(x[i], x[j], dim=0)) for j in neighbours]
        distance += (1 - sum(cosines) / len(cosines)) / NODES
    assert dirichlet_energy(x, EDGES) == pytest.approx(energy)
    assert mean_average_distance(x, EDGES) == pytest.approx(distance)


def test_the_distance_to_all_is_that_on_the_complete_graph(x):
    complete = (torch.ones(NODES, NODES) - torch.eye(NODES)).nonzero().T
    assert mean_average_distance(x) == pytest.approx(float(mean_average_distance(x, complete)))
    x = x.clone()
    x[3] = 0.0  # a node without a direction
    assert mean_average_distance(x) == pytest.approx(float(mean_average_distance(x, complete)))


def test_almost_equal_directions_are_told_apart_in_single_precision():
    x = torch.ones(2, 2)
    x[1, 1] += 1e-4
    exact = float(mean_average_distance(x.double(), ring(2)))
    assert mean_average_distance(x, ring(2)) == pytest.approx(exact, rel=1e-2)


def test_where_a_gcn_rests_only_the_energy_by_degree_is_zero():
    """The fixed direction of D^-½ (A + I) D^-½ is the root of the degrees, not the constant."""
    edge_index, weight = gcn_norm(EDGES, num_nodes=NODES, dtype=torch.double)
    matrix = to_dense_adj(edge_index, edge_attr=weight).squeeze(0)
    rest = torch.linalg.eigh(matrix).eigenvectors[:, -1:]
    torch.testing.assert_close(matrix @ rest, rest)
    assert dirichlet_energy(rest, EDGES, by_degree=True) == pytest.approx(0.0, abs=1e-20)
    assert dirichlet_energy(rest, EDGES) > 1e-3


def test_the_relative_energy_by_degree_is_a_quotient_of_the_laplacian(x):
    edge_index, weight = gcn_norm(EDGES, num_nodes=NODES, dtype=torch.double)
    laplacian = torch.eye(NODES, dtype=torch.double) - to_dense_adj(edge_index, edge_attr=weight).squeeze(0)
    quotient = 2 * torch.trace(x.T @ laplacian @ x) / x.square().sum()
    assert dirichlet_energy(x, EDGES, by_degree=True, relative=True) == pytest.approx(float(quotient))


def test_the_effective_rank_is_the_exponential_of_an_entropy():
    sigma = torch.tensor([3.0, 1.0], dtype=torch.double)
    p = sigma / sigma.sum()
    expected = math.exp(-float((p * p.log()).sum()))
    assert effective_rank(torch.diag(sigma)) == pytest.approx(expected)


def test_the_numerical_rank_counts_what_is_above_the_tolerance():
    x = torch.diag(torch.tensor([1.0, 1e-3, 1e-9, 0.0]))
    assert numerical_rank(x) == 2  # in single precision 1e-9 is rounding
    assert numerical_rank(x, tolerance=1e-2) == 1
    assert numerical_rank(x, tolerance=1e-12) == 3


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.half, torch.float, torch.double])
def test_the_rounding_of_the_number_format_is_no_rank(dtype: torch.dtype):
    generator = torch.Generator().manual_seed(0)
    on_a_line = torch.randn(500, 1, generator=generator) * torch.randn(1, 8, generator=generator)
    assert numerical_rank(on_a_line.to(dtype)) == (8 if dtype == torch.double else 1)  # single, kept in double
    assert numerical_rank(torch.eye(8).repeat(60, 1).to(dtype)) == 8


def test_isolated_nodes_count_in_the_energy_and_not_in_the_distance(x):
    alone = torch.cat([x, torch.randn(3, CHANNELS, dtype=torch.double)])
    energy = dirichlet_energy(x, EDGES)
    assert dirichlet_energy(alone, EDGES) == pytest.approx(float(energy) * NODES / (NODES + 3))
    assert mean_average_distance(alone, EDGES) == pytest.approx(float(mean_average_distance(x, EDGES)))


def test_a_graph_without_edges_has_no_energy(x):
    none = torch.empty(2, 0, dtype=torch.long)
    assert dirichlet_energy(x, none) == dirichlet_energy(x, none, by_degree=True) == 0.0
    assert mean_average_distance(x, none) == 0.0


def test_a_directed_edge_is_counted_once(x):
    both = torch.cat([DIRECTED, DIRECTED.flip(0)], dim=1)
    assert dirichlet_energy(x, both) == pytest.approx(2 * float(dirichlet_energy(x, DIRECTED)))


def test_self_loops_are_no_neighbours_of_their_node(x):
    loops = torch.arange(NODES).repeat(2, 1)
    with_loops = torch.cat([EDGES, loops], dim=1)
    assert mean_average_distance(x, with_loops) == pytest.approx(float(mean_average_distance(x, EDGES)))
    assert dirichlet_energy(x, with_loops) == pytest.approx(float(dirichlet_energy(x, EDGES)))


@pytest.fixture
def graphs():
    generator = torch.Generator().manual_seed(2)
    edges = {3: ring(3), 7: random_graph(7, 6, 1), 5: star(4), 1: torch.empty(2, 0, dtype=torch.long)}
    return [
        Data(x=torch.randn(n, CHANNELS, dtype=torch.double, generator=generator), edge_index=e)
        for n, e in edges.items()
    ]


@pytest.mark.parametrize(
    "measure",
    [
        dirichlet_energy,
        lambda x, e, b=None: dirichlet_energy(x, e, b, by_degree=True, relative=True),
        mean_average_distance,
        lambda x, e, b=None: mean_average_distance(x, None, b),
        lambda x, e, b=None: effective_rank(x, b),
        lambda x, e, b=None: numerical_rank(x, b),
    ],
    ids=["energy", "relative-energy-by-degree", "distance", "distance-to-all", "effective-rank", "rank"],
)
def test_a_batch_has_for_every_graph_what_the_graph_has_alone(measure, graphs):
    batch = Batch.from_data_list(graphs)
    alone = torch.stack([measure(g.x, g.edge_index) for g in graphs])
    torch.testing.assert_close(measure(batch.x, batch.edge_index, batch.batch), alone)
    xs = torch.stack([batch.x, 2 * batch.x])  # a trajectory of a batch
    torch.testing.assert_close(measure(xs, batch.edge_index, batch.batch)[0], alone)


@pytest.mark.parametrize("scale", [1e-30, 1e-22, 1e22])
def test_a_graph_of_a_batch_is_not_smooth_for_another_one_is_larger(graphs, scale):
    sizes = (1.0, scale, 1.0, 1.0)
    batch = Batch.from_data_list(
        [Data(x=s * g.x.float(), edge_index=g.edge_index) for s, g in zip(sizes, graphs, strict=True)]
    )
    together = dirichlet_energy(batch.x, batch.edge_index, batch.batch, relative=True)
    alone = [float(dirichlet_energy(g.x, g.edge_index, relative=True)) for g in graphs]
    assert together.tolist() == pytest.approx(alone, rel=1e-4)


def test_measures_of_a_batch_are_the_mean_over_its_graphs(graphs):
    batch = Batch.from_data_list(graphs)
    together = measure_state(batch.x, batch.edge_index, batch.batch)
    for name in ("energy", "mad", "effective_rank", "rank"):
        assert together[name] == pytest.approx(
            sum(measure_state(g.x, g.edge_index)[name] for g in graphs) / len(graphs)
        )


def test_a_batch_of_another_length_is_refused(x):
    with pytest.raises(ValueError, match="batch has shape \\(3,\\), but x has 12 nodes"):
        dirichlet_energy(x, EDGES, torch.zeros(3, dtype=torch.long))


def test_a_state_that_is_not_finite_has_no_rank_and_does_not_raise(x):
    x = x.clone()
    x[0, 0] = torch.nan
    xs = torch.stack([torch.ones_like(x), x])
    assert effective_rank(xs)[0] == pytest.approx(1.0)
    assert effective_rank(xs)[1].isnan()
    assert numerical_rank(xs)[1].isnan()


def test_a_table_of_states_as_they_come_is_that_of_the_stacked_ones(x):
    layer = GCNConv(CHANNELS, CHANNELS).double()

    def states():
        state = x
        for _ in range(4):
            yield state
            state = layer(state, EDGES).detach()

    table = state_table(states(), EDGES)
    assert table.equals(state_table(torch.stack(list(states())), EDGES))
    assert table["energy"].to_list() == pytest.approx(dirichlet_energy(torch.stack(list(states())), EDGES).tolist())


def test_homophily_counts_neighbours_of_one_label():
    y = torch.tensor([0, 0, 1, 1])
    path = torch.tensor([[0, 1, 2], [1, 2, 3]])
    assert edge_homophily(path, y) == pytest.approx(2 / 3)
    assert node_homophily(path, y) == pytest.approx((1 + 0.5 + 0.5 + 1) / 4)


@pytest.mark.parametrize("scale", [1e-30, 1e-36, 1e30])
def test_what_knows_no_size_is_right_for_states_that_have_all_but_vanished(scale):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(30, 5, generator=generator)
    edge_index = torch.randint(30, (2, 90), generator=generator)
    torch.testing.assert_close(mean_average_distance(scale * x, edge_index), mean_average_distance(x, edge_index))
    torch.testing.assert_close(
        dirichlet_energy(scale * x, edge_index, relative=True), dirichlet_energy(x, edge_index, relative=True)
    )


@pytest.mark.parametrize("measure", [effective_rank, numerical_rank])
@pytest.mark.parametrize("batch", [None, torch.empty(0, dtype=torch.long)])
def test_a_rank_of_no_nodes_is_refused(measure, batch):
    with pytest.raises(ValueError, match=r"x has shape \[0, 3\], but .* at least one node"):
        measure(torch.empty(0, 3), batch)


@pytest.mark.parametrize("x", [torch.empty(0, 3), torch.ones(4)])
def test_a_state_that_cannot_be_measured_is_refused(x: torch.Tensor):
    with pytest.raises(ValueError, match=r"x has shape .* features of shape \[\.\.\., nodes, channels\]"):
        measure_state(x, torch.empty(2, 0, dtype=torch.long))
