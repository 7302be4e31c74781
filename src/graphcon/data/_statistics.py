"""What one wants to know about a graph before training on it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import degree, is_undirected, subgraph

from graphcon.data._dataset import GraphDataset
from graphcon.data._kinds import MEASURES
from graphcon.diagnostics.homophily import edge_homophily, node_homophily


def components(edge_index: Tensor, num_nodes: int) -> tuple[int, Tensor]:
    """The number of connected components, directions ignored, and the component of every node."""
    source, target = edge_index.numpy()
    matrix = coo_matrix((np.ones(len(source), dtype=np.int8), (source, target)), (num_nodes, num_nodes))
    count, component = connected_components(matrix, directed=False)
    return int(count), torch.from_numpy(component.astype(np.int64))


def largest_component(data: Data) -> Data:
    """The graph of the largest component's nodes, in their order; ``node_index`` says which they were."""
    assert data.edge_index is not None
    assert data.num_nodes is not None
    _, component = components(data.edge_index, data.num_nodes)
    keep = (component == component.bincount().argmax()).nonzero().flatten()
    result = data.subgraph(keep)
    result.node_index = keep
    return result


@dataclass(frozen=True)
class Statistics:
    """Counts of a set; averages over its graphs where there are many.

    Attributes:
        graphs: Number of graphs.
        nodes: Nodes, in all graphs together.
        edges: Columns of ``edge_index``, in all graphs together: an undirected edge counts twice.
        features: Width of the input.
        outputs: Number of classes, labels or values.
        edge_homophily: See :func:`graphcon.diagnostics.edge_homophily`; None where nodes have no classes.
        node_homophily: See :func:`graphcon.diagnostics.node_homophily`; None where nodes have no classes.
        components: Connected components of all graphs together.
        isolated: Nodes without an edge to another node.
        self_loops: Edges from a node to itself.
        duplicates: Columns of ``edge_index`` that occurred before.
        undirected: Whether every edge comes with its reverse.
        degrees: How many nodes have a degree of 0, 1, 2-3, 4-7, 8-15, ...: the range and the count.
        mean_degree: Columns of ``edge_index`` per node.
        max_degree: The largest number of edges that end in a node.
        balance: For classes, the name and the number of nodes or graphs of each; for labels likewise; for
            values the minimum, mean, standard deviation and maximum, of each target where there are several.
    """

    graphs: int
    nodes: int
    edges: int
    features: int
    outputs: int
    edge_homophily: float | None
    node_homophily: float | None
    components: int
    isolated: int
    self_loops: int
    duplicates: int
    undirected: bool
    mean_degree: float
    max_degree: int
    degrees: tuple[tuple[str, int], ...]
    balance: tuple[tuple[str, float], ...]

    def to_dict(self) -> dict:
        """Plain numbers, for JSON."""
        return asdict(self)


def statistics(dataset: GraphDataset) -> Statistics:
    """Counts everything once; a set of many graphs is treated as one graph of many components."""
    edge_index, num_nodes = joined(dataset.graphs)
    has_classes = dataset.task == "node" and dataset.kind == "classification" and edge_index.size(1) > 0
    targets = torch.cat([data.y for data in dataset.graphs if isinstance(data.y, Tensor)])
    # Nodes without a label (-1) have no say in the homophily.
    known = None
    if has_classes:
        labelled = targets >= 0
        known, _ = subgraph(labelled, edge_index, num_nodes=num_nodes)
        has_classes = known.size(1) > 0
    degrees = degree(edge_index[1], num_nodes, dtype=torch.long)
    proper = edge_index[:, edge_index[0] != edge_index[1]]
    touched = torch.zeros(num_nodes, dtype=torch.bool)
    touched[proper.flatten()] = True
    keys = edge_index[0] * num_nodes + edge_index[1]
    return Statistics(
        graphs=len(dataset.graphs),
        nodes=num_nodes,
        edges=edge_index.size(1),
        features=dataset.num_features + len(dataset.num_categories),
        outputs=dataset.num_outputs,
        edge_homophily=edge_homophily(known, targets) if has_classes and known is not None else None,
        node_homophily=node_homophily(known, targets) if has_classes and known is not None else None,
        components=components(edge_index, num_nodes)[0],
        isolated=int((~touched).sum()),
        self_loops=edge_index.size(1) - proper.size(1),
        duplicates=keys.numel() - keys.unique().numel(),
        undirected=is_undirected(edge_index, num_nodes=num_nodes),
        mean_degree=edge_index.size(1) / max(1, num_nodes),
        max_degree=int(degrees.max()) if num_nodes else 0,
        degrees=_degree_ranges(degrees),
        balance=_balance(dataset, targets),
    )


def joined(graphs: Sequence[Data]) -> tuple[Tensor, int]:
    """The edges of all graphs side by side in one numbering, and the number of their nodes."""
    edges, first = [], 0
    for data in graphs:
        assert data.edge_index is not None
        edges.append(data.edge_index + first)
        first += int(data.num_nodes or 0)
    return torch.cat(edges, dim=1), first


def _degree_ranges(degrees: Tensor) -> tuple[tuple[str, int], ...]:
    """Counts in ranges that double: 0, 1, 2-3, 4-7, ..."""
    ranges, low = [("0", int((degrees == 0).sum()))], 1
    most = int(degrees.max()) if degrees.numel() else 0
    while low <= most:
        high = 2 * low - 1
        count = int(((degrees >= low) & (degrees <= high)).sum())
        ranges.append((str(low) if low == high else f"{low}-{high}", count))
        low = high + 1
    return tuple(ranges)


def _balance(dataset: GraphDataset, targets: Tensor) -> tuple[tuple[str, float], ...]:
    if dataset.kind == "classification":
        counts = targets[targets >= 0].flatten().bincount(minlength=dataset.num_outputs).tolist()
        names = dataset.class_names or tuple(str(label) for label in range(dataset.num_outputs))
        return tuple(zip(names, counts, strict=True))
    if dataset.kind == "multilabel":
        counts = (targets.view(-1, dataset.num_outputs) > 0).sum(dim=0).tolist()
        names = dataset.class_names or tuple(str(label) for label in range(dataset.num_outputs))
        return tuple(zip(names, counts, strict=True))
    names = dataset.target_names or tuple(f"value {i}" for i in range(dataset.num_outputs))
    found = []
    for name, column in zip(names, targets.view(-1, dataset.num_outputs).double().T, strict=True):
        values = column[~column.isnan()]
        of = f" of {name}" if len(names) > 1 else ""
        measured = (values.min(), values.mean(), values.std(), values.max())
        found += [(label + of, float(value)) for label, value in zip(MEASURES, measured, strict=True)]
    return tuple(found)
