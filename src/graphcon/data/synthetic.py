"""Graphs whose answer is known by construction: for tests, demos and studies of depth.

Every function returns a :class:`GraphDataset` or a PyG ``Data``, and the same seed returns the same graph.
"""

import math
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from graphcon.data import splits
from graphcon.data._dataset import GraphDataset
from graphcon.errors import InputError


def block_model(
    num_nodes: int = 1000,
    num_classes: int = 4,
    *,
    homophily: float = 0.8,
    mean_degree: float = 10.0,
    num_features: int = 16,
    separation: float = 1.0,
    seed: int = 0,
) -> GraphDataset:
    r"""A contextual stochastic block model: classes of one size, homophily as a dial.

    Pairs are joined independently, with probability :math:`p` within a class and :math:`q` between classes,
    chosen so that a node has `mean_degree` neighbours and a share `homophily` of them is of its class, in
    expectation. Features are :math:`x_v = \mu_{y_v} + \varepsilon_v` with :math:`\varepsilon_v \sim N(0, I)`
    and class means in random directions of length `separation`: at 0 only the edges tell the classes apart.

    Args:
        num_nodes: How many nodes.
        num_classes: How many classes.
        homophily: Expected share of a node's neighbours that have its class, from 0 to 1. At ``1 /
            num_classes`` the edges tell nothing.
        mean_degree: Expected number of neighbours.
        num_features: Width of the features.
        separation: Length of the class means, in standard deviations of the noise.
        seed: Of the graph, the features and the split.
    """
    if not 0.0 <= homophily <= 1.0:
        raise InputError(f"homophily={homophily:g}: must lie between 0 and 1.")
    if num_classes < 2 or num_nodes < 2 * num_classes:
        raise InputError(f"num_classes={num_classes}: must be at least 2, with two nodes or more of each class.")
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(num_nodes) % num_classes)
    size = num_nodes / num_classes
    within, between = homophily * mean_degree / (size - 1), (1 - homophily) * mean_degree / (num_nodes - size)
    if max(within, between) > 1.0:
        raise InputError(
            f"mean_degree={mean_degree:g}: {num_nodes} nodes in {num_classes} classes cannot have so many "
            f"neighbours at homophily {homophily:g}. Take a smaller degree or more nodes."
        )
    members = [np.flatnonzero(y == label) for label in range(num_classes)]
    pairs = []
    for a in range(num_classes):
        pairs.append(_random_pairs(rng, members[a], None, within))
        pairs += [_random_pairs(rng, members[a], members[b], between) for b in range(a + 1, num_classes)]
    edge_index = to_undirected(torch.from_numpy(np.concatenate(pairs, axis=1)), num_nodes=num_nodes)
    means = rng.normal(size=(num_classes, num_features))
    means *= separation / np.linalg.norm(means, axis=1, keepdims=True)
    x = torch.from_numpy((means[y] + rng.normal(size=(num_nodes, num_features))).astype(np.float32))
    labels = torch.from_numpy(y)
    return GraphDataset(
        name="block-model",
        graphs=[Data(x=x, edge_index=edge_index, y=labels)],
        task="node",
        kind="classification",
        num_outputs=num_classes,
        num_features=num_features,
        split=splits.random_fractions(num_nodes, seed, labels=labels),
        splitter=partial(splits.random_fractions, num_nodes, labels=labels),
    )


def grid(height: int, width: int, *, periodic: bool = False) -> Data:
    """A grid: every node is joined to those above, below, left and right; `pos` holds column and row.

    Args:
        height: Rows.
        width: Columns.
        periodic: Whether the last row and column are joined to the first, which makes a torus.
    """
    node = torch.arange(height * width).view(height, width)
    right, below = (node, node.roll(-1, 1)), (node, node.roll(-1, 0))
    if not periodic:
        right, below = (node[:, :-1], node[:, 1:]), (node[:-1], node[1:])
    pairs = [torch.stack([a.flatten(), b.flatten()]) for a, b in (right, below)]
    row, column = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    pos = torch.stack([column.flatten(), row.flatten()], dim=1).float()
    return _undirected(torch.cat(pairs, dim=1), height * width, pos)


def ring(num_nodes: int) -> Data:
    """A ring; `pos` lies on the unit circle."""
    node = torch.arange(num_nodes)
    angle = 2 * math.pi * node / num_nodes
    pos = torch.stack([angle.cos(), angle.sin()], dim=1)
    return _undirected(torch.stack([node, (node + 1) % num_nodes]), num_nodes, pos)


def path(num_nodes: int) -> Data:
    """A path; `pos` holds the place on it."""
    node = torch.arange(num_nodes)
    return _undirected(torch.stack([node[:-1], node[1:]]), num_nodes, node[:, None].float())


def tree(depth: int, branching: int = 2) -> Data:
    """A rooted tree, the root is node 0 and children follow their parents; ``depth`` [nodes] holds the
    level.
    """
    sizes = [branching**level for level in range(depth + 1)]
    child = torch.arange(1, sum(sizes))
    data = _undirected(torch.stack([(child - 1) // branching, child]), sum(sizes), None)
    data.depth = torch.repeat_interleave(torch.arange(depth + 1), torch.tensor(sizes))
    return data


def graph_transfer(
    distance: int,
    *,
    topology: str = "path",
    num_classes: int = 5,
    num_graphs: int = 1000,
    seed: int = 0,
) -> GraphDataset:
    """The graph-transfer task: a label that sits `distance` hops away, so that depth is needed by
    construction.

    The source node carries a class as a one-hot vector, a mark tells source and target apart from the others,
    and the class must be told at the target, node 0; all other nodes have no target (-1). A model of fewer
    than `distance` layers of neighbourhood averaging cannot do better than chance: what it sees at the target
    is the same for every class.

    Args:
        distance: Hops from the source to the target.
        topology: ``"path"``; ``"ring"`` with the source opposite; ``"tree"``, binary, with the source at a
            leaf.
        num_classes: How many classes.
        num_graphs: How many graphs; 60 % are for training, 20 % for validation.
        seed: Of the classes and, in trees, of the leaves.
    """
    if distance < 1:
        raise InputError(f"distance={distance}: must be at least 1.")
    shapes = {
        "path": lambda: path(distance + 1),
        "ring": lambda: ring(2 * distance),
        "tree": lambda: tree(distance),
    }
    if topology not in shapes:
        raise InputError(f"topology='{topology}': must be one of {', '.join(shapes)}.")
    if topology == "ring" and distance < 2:
        raise InputError("distance=1: a ring needs at least 2. Take topology='path'.")
    if topology == "tree" and distance > 14:
        raise InputError(f"distance={distance}: a binary tree of that depth is too large, take at most 14.")
    rng = np.random.default_rng(seed)
    shape = shapes[topology]()
    assert shape.edge_index is not None
    num_nodes = int(shape.num_nodes or 0)
    graphs = []
    for label in rng.permutation(np.arange(num_graphs) % num_classes).tolist():
        source = distance
        if topology == "tree":
            source = int(rng.integers(num_nodes - 2**distance, num_nodes))
        x = torch.zeros(num_nodes, num_classes + 2)
        x[source, label] = 1.0
        x[source, num_classes] = 1.0
        x[0, num_classes + 1] = 1.0
        y = torch.full((num_nodes,), -1)
        y[0] = label
        graphs.append(Data(x=x, edge_index=shape.edge_index, y=y))
    return GraphDataset(
        name=f"graph-transfer-{topology}-{distance}",
        graphs=graphs,
        task="node",
        kind="classification",
        num_outputs=num_classes,
        num_features=num_classes + 2,
        split=splits.random_fractions(num_graphs, seed, unit="graph"),
        notes=("Only node 0 of every graph has a target; the others hold -1.",),
    )


def _undirected(pairs: Tensor, num_nodes: int, pos: Tensor | None) -> Data:
    data = Data(edge_index=to_undirected(pairs, num_nodes=num_nodes), num_nodes=num_nodes)
    if pos is not None:
        data.pos = pos
    return data


def _random_pairs(
    rng: np.random.Generator, rows: np.ndarray, columns: np.ndarray | None, probability: float
) -> np.ndarray:
    """Each pair with the given probability, in time of the number of pairs drawn; `None` for pairs among
    `rows`.
    """
    n = len(rows)
    total = n * (n - 1) // 2 if columns is None else n * len(columns)
    count = rng.binomial(total, probability)
    picked = rng.choice(total, size=count, replace=False, shuffle=False) if count else np.zeros(0, dtype=np.int64)
    if columns is not None:
        return np.stack([rows[picked // len(columns)], columns[picked % len(columns)]])
    # The pair (i, j), i < j, has the number j (j - 1) / 2 + i.
    j = ((1 + np.sqrt(1 + 8 * picked.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > picked
    j += (j + 1) * j // 2 <= picked
    return np.stack([rows[picked - j * (j - 1) // 2], rows[j]])
