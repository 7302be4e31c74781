"""Graphs that are in memory or in other formats: PyG objects, NetworkX, GraphML, and the npz of
gnn-benchmark.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.utils.data import DataLoader
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.utils import is_undirected, to_undirected

from graphcon._words import counted
from graphcon.data import splits
from graphcon.data._dataset import GraphDataset, has_target
from graphcon.data._kinds import PARTS, Kind, Task
from graphcon.data._options import TableOptions
from graphcon.data._split import Split
from graphcon.data._statistics import joined
from graphcon.data.tables import TableSchema, read_tables
from graphcon.data.tables.connect import count_edges
from graphcon.errors import InputError

if TYPE_CHECKING:
    import networkx as nx

# NumPy's letters for kinds of numbers.
_INTEGERS, _NUMBERS = "iu", "biuf"


def from_pyg(
    source: Data | Sequence[Data],
    *,
    task: Task | None = None,
    kind: Kind | None = None,
    split: Split | None = None,
    seed: int = 0,
    train: float = 0.6,
    val: float = 0.2,
    name: str = "data",
) -> GraphDataset:
    """A PyG ``Data``, ``Dataset`` or list of ``Data`` with its targets in ``y``.

    Args:
        source: One graph, or many.
        task: Whether nodes or graphs have targets; by default nodes if there are as many in ``y`` as nodes.
        kind: Kind of the target; by default zeros and ones in several columns are labels, other integers are
            classes, other numbers are values.
        split: The split; by default the masks of a single graph, a column of them by `seed` where there are
            several, and otherwise a random one.
        seed: Of the split.
        train: Share of the training part of a random split.
        val: Share of its validation part.
        name: What the set calls itself.
    """
    graphs = _graphs_of(source, name)
    names = [f"{name}, graph {place}" if len(graphs) > 1 else name for place in range(len(graphs))]
    found = [_checked(data, named) for data, named in zip(graphs, names, strict=True)]
    targets = [target for target, _, _ in found]
    if any(changed for _, _, changed in found):
        graphs = [_with_targets(data, target) for data, target in zip(graphs, targets, strict=True)]
    first, nodes = graphs[0], found[0][1]
    if task is None:
        task = "node" if len(targets[0]) == nodes and (len(graphs) == 1 or nodes != 1) else "graph"
    for (target, nodes, _), named in zip(found, names, strict=True):
        _check_rows(target, task, nodes, named)
    y = torch.cat(targets)
    kind = kind or _kind_of(y, name)
    if kind == "classification" and y.dim() == 2 and y.size(1) == 1:  # as in OGB
        graphs, y = [_with_targets(data, cast(Tensor, data.y).view(-1)) for data in graphs], y.view(-1)
    if kind != "classification" and not y.is_floating_point():  # of integers, one below 0 would be no target
        graphs, y = [_with_targets(data, cast(Tensor, data.y).float()) for data in graphs], y.float()
    num_outputs = int(y.max()) + 1 if kind == "classification" else (y.size(1) if y.dim() > 1 else 1)
    split = split or _split_of(graphs, task, kind, y, seed, train, val, name)
    if split.unit == "node":
        _check_labelled(split, y, name)
    edge_index, num_nodes = joined(graphs)
    directed = not is_undirected(edge_index, num_nodes=num_nodes)
    x, edge_attr = first.x, first.edge_attr
    categorical = x is not None and not x.is_floating_point()
    sizes = _sizes([data.x for data in graphs]) if categorical else ()
    edge_categorical = edge_attr is not None and not edge_attr.is_floating_point()
    edge_width = 0 if edge_attr is None else edge_attr.view(edge_attr.size(0), -1).size(1)
    return GraphDataset(
        name=name,
        graphs=graphs,
        task=task,
        kind=kind,
        num_outputs=num_outputs,
        num_features=0 if x is None or categorical else x.size(1),
        num_categories=sizes,
        edge_dim=0 if edge_categorical else edge_width,
        num_edge_categories=_sizes([data.edge_attr for data in graphs]) if edge_categorical else (),
        split=split,
        directed=directed,
        notes=count_edges(name, num_nodes, edge_index.numpy(), "with direction" if directed else "both ways"),
    )


def _graphs_of(source: Any, name: str) -> Sequence[Data]:
    """The graphs of a source; what holds them in another form is refused with the way to them."""
    cures = {
        DataLoader: "give its graphs, loader.dataset: training makes batches by itself",
        Batch: "give its graphs, batch.to_data_list(): training makes batches by itself",
        HeteroData: "make the kinds of nodes and edges one graph, hetero.to_homogeneous()",
    }
    for kind, cure in cures.items():
        if isinstance(source, kind):
            raise InputError(f"{name}: is a {kind.__name__}, but must be one graph or a list of graphs: {cure}.")
    graphs: Sequence[Data] = [source] if isinstance(source, Data) else source
    if len(graphs) == 0:
        raise InputError(f"{name}: holds no graph.")
    return graphs


def _checked(data: Data, name: str) -> tuple[Tensor, int, bool]:
    """The targets of a graph that can be used, its number of nodes, and whether the targets have another form in it."""
    _check_graph(data, name)
    target = _target_of(data, name)
    return target, int(data.num_nodes or 0), target is not data.y


def _target_of(data: Data, name: str) -> Tensor:
    """The targets as a tensor with a row for each: classes as 64-bit integers, a graph's own number as one row."""
    try:
        y = torch.as_tensor(data.y)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name}: y is a {type(data.y).__name__}. It must be a tensor or a number.") from None
    y = y if y.is_floating_point() else y.long()
    return y.reshape(1) if y.dim() == 0 else y


def _with_targets(data: Data, y: Tensor) -> Data:
    """The graph with its targets in another form; the user's own stays as it is."""
    changed = copy(data)
    changed.y = y
    return changed


def from_networkx(
    graph: "nx.Graph", name: str = "graph", options: TableOptions | None = None, **changes
) -> tuple[GraphDataset, TableSchema]:
    """A NetworkX graph whose nodes have a target and features as attributes; a directed one stays directed.

    Args:
        graph: The graph.
        name: What messages call it.
        options: As for :func:`graphcon.data.read_tables`.
        changes: Likewise: ``target="label"`` at least.
    """
    if graph.number_of_nodes() == 0 or graph.number_of_edges() == 0:
        raise InputError(f"{name}: the graph has no nodes or no edges.")
    for kind, reserved, records in (
        ("node", {"id"}, (attributes for _, attributes in graph.nodes(data=True))),
        ("edge", {"source", "target"}, (attributes for *_, attributes in graph.edges(data=True))),
    ):
        clash = reserved.intersection(*[set().union(*records)])
        if clash:
            raise InputError(f"{name}: the {kind} attribute '{min(clash)}' has a reserved name. Rename it.")
    nodes = [{"id": str(node), **attributes} for node, attributes in graph.nodes(data=True)]
    edges = [{"source": str(a), "target": str(b), **attributes} for a, b, attributes in graph.edges(data=True)]
    frames = (pl.DataFrame(nodes, infer_schema_length=None), pl.DataFrame(edges, infer_schema_length=None))
    fixed: dict = {"id": "id", "source": "source", "destination": "target"}
    if options is None or options.direction is None:
        fixed["directed"] = graph.is_directed()
    dataset, schema = read_tables(*frames, options=options, **(fixed | changes))
    return replace(dataset, name=name), schema


def from_graphml(path: str | Path, options: TableOptions | None = None, **changes) -> tuple[GraphDataset, TableSchema]:
    """A GraphML file whose nodes have a target and features as attributes.

    Args:
        path: The file.
        options: As for :func:`graphcon.data.read_tables`.
        changes: Likewise: ``target="label"`` at least.
    """
    import networkx as nx

    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such file.")
    try:
        graph = nx.read_graphml(path)
    except Exception as error:  # whatever an XML parser throws
        raise InputError(f"{path}: is no GraphML file ({str(error)[:100]}). Write it again.") from error
    return from_networkx(graph, name=str(path), options=options, **changes)


def from_npz(
    path: str | Path, *, directed: bool = False, seed: int = 0, train: float = 0.6, val: float = 0.2
) -> GraphDataset:
    """A graph in the layout of gnn-benchmark: ``adj_*`` and ``attr_*`` in compressed sparse rows, ``labels``.

    Args:
        path: The ``.npz`` file; nothing in it is executed.
        directed: Whether edges keep their direction; else each goes both ways, once.
        seed: Of the random split.
        train: Share of its training part.
        val: Share of its validation part.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file.")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files if not key.endswith("_names")}
    except Exception as error:  # whatever a damaged archive throws
        raise InputError(f"{path}: is no plain npz file ({str(error)[:100]}). Save numbers only.") from error
    edge_index, weight = _edges_of(path, arrays)
    num_nodes = int(arrays["adj_shape"][0])
    x = _features_of(path, arrays)
    labels = arrays.get("labels")
    if labels is None or labels.shape != (num_nodes,) or labels.dtype.kind not in "iu":
        raise InputError(f"{path}, array 'labels': must hold an integer per node ({num_nodes}).")
    if len(x) != num_nodes:
        raise InputError(f"{path}: the features have {len(x)} rows, the graph has {num_nodes} nodes. They must agree.")
    if not np.isfinite(x).all():
        row, column = np.argwhere(~np.isfinite(x))[0]
        raise InputError(f"{path}, features, row {row}, column {column}: must be a finite number. Correct it.")
    if not directed:
        ones = torch.ones(edge_index.size(1)) if weight is None else weight
        edge_index, ones = to_undirected(edge_index, ones, num_nodes=num_nodes, reduce="max")
        weight = None if weight is None else ones
    data = Data(x=torch.from_numpy(x), edge_index=edge_index, y=torch.from_numpy(labels.astype(np.int64)))
    if weight is not None:
        data.edge_weight = weight
    dataset = from_pyg(data, seed=seed, train=train, val=val, name=path.name)
    return replace(dataset, directed=directed)


def _edges_of(path: Path, arrays: dict[str, np.ndarray]) -> tuple[Tensor, Tensor | None]:
    pair, values, (rows, columns) = _sparse_rows(path, arrays, "adj")
    if rows != columns:
        raise InputError(f"{path}, array 'adj_shape': {rows} x {columns}, must be that of a square matrix. Correct it.")
    if not np.isfinite(values).all():
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"{path}, array 'adj_data', entry {place}: a weight must be a finite number. Correct it.")
    weight = None if (values == 1).all() else torch.from_numpy(values.astype(np.float32))
    return torch.from_numpy(pair), weight


def _features_of(path: Path, arrays: dict[str, np.ndarray]) -> np.ndarray:
    matrix = arrays.get("attr_matrix")
    if matrix is not None:
        if matrix.ndim != 2 or matrix.dtype.kind not in _NUMBERS:
            raise InputError(f"{path}, array 'attr_matrix': must hold a row of numbers per node. Correct it.")
        return matrix.astype(np.float32)
    pair, values, shape = _sparse_rows(path, arrays, "attr")
    x = np.zeros(shape, dtype=np.float32)
    x[tuple(pair)] = values
    return x


def _sparse_rows(
    path: Path, arrays: dict[str, np.ndarray], name: str
) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """A matrix in compressed sparse rows: where its entries are [2, entries], what they are, and its shape."""
    absent = [f"{name}_{part}" for part in ("data", "indices", "indptr", "shape") if f"{name}_{part}" not in arrays]
    if absent:
        raise InputError(
            f"{path}: lacks {', '.join(absent)}. The layout is that of gnn-benchmark: adj_data, "
            "adj_indices, adj_indptr, adj_shape, attr_data, attr_indices, attr_indptr, attr_shape, labels."
        )

    def read(part: str, size: int, kinds: str, rule: str, holds: Callable[[np.ndarray], bool]) -> np.ndarray:
        values = arrays[f"{name}_{part}"]
        if values.shape != (size,) or values.dtype.kind not in kinds or not holds(values):
            raise InputError(
                f"{path}, array '{name}_{part}': must hold {size} {rule}. It is damaged, or of another matrix: save "
                "the file again."
            )
        return values if kinds == _NUMBERS else values.astype(np.int64)

    shape = read("shape", 2, _INTEGERS, "integers, rows and columns", lambda size: bool((size >= 0).all()))
    rows, columns = shape.tolist()
    ends = read(
        "indptr", rows + 1, _INTEGERS, "integers that begin with 0 and never fall",
        lambda ends: ends[0] == 0 and bool((ends[1:] >= ends[:-1]).all()),
    )  # fmt: skip
    column = read(
        "indices", int(ends[-1]), _INTEGERS, f"integers from 0 to {columns - 1}",
        lambda index: bool(((index >= 0) & (index < columns)).all()),
    )  # fmt: skip
    values = read("data", int(ends[-1]), _NUMBERS, "numbers", lambda _: True)
    return np.stack([np.repeat(np.arange(rows), np.diff(ends)), column]), values, (rows, columns)


def _check_graph(data: Data, name: str) -> None:
    if data.edge_index is None or data.y is None:
        raise InputError(f"{name}: has no {'edge_index' if data.edge_index is None else 'y'}. It must have both.")
    for what in ("x", "edge_weight", "edge_attr"):
        values = data.get(what)
        if values is not None and values.is_floating_point() and not values.isfinite().all():
            place = ", ".join(map(str, (~values.isfinite()).nonzero()[0].tolist()))
            raise InputError(f"{name}, {what}[{place}]: must be a finite number. Correct it.")
    if data.edge_index.numel() and int(data.edge_index.max()) >= int(data.num_nodes or 0):
        raise InputError(
            f"{name}: edge_index names node {int(data.edge_index.max())}, there are {data.num_nodes}, numbered from 0."
        )


def _check_rows(y: Tensor, task: Task, nodes: int, name: str) -> None:
    if len(y) != (nodes if task == "node" else 1):
        each = f"a row for each of the {counted(nodes, 'node')}"
        wanted = each if task == "node" else f"one row for the graph, as y.view(1, -1) has, or {each}"
        raise InputError(f"{name}: y has shape {list(y.shape)}. It must have {wanted}.")


def _check_labelled(split: Split, y: Tensor, name: str) -> None:
    """Refuses parts with nodes that have no target."""
    for part, index in split.parts():
        absent = index[~has_target(y[index])]
        if len(absent):
            node = int(absent[0])
            raise InputError(
                f"{name}, y[{node}] = {y[node].tolist()}: is no target, but node {node} is in {part}. Correct it, or "
                f"take such nodes out of the part, {part}_mask."
            )


def _kind_of(y: Tensor, name: str) -> Kind:
    several = y.dim() > 1 and y.size(1) > 1
    if several and bool(((y == 0) | (y == 1)).all()):
        return "multilabel"
    if several and not y.is_floating_point():
        raise InputError(
            f"{name}: y has {y.size(1)} columns of whole numbers up to {int(y.max())}. A class is one column, labels "
            "are zeros and ones, and values are floating-point numbers: y.float()."
        )
    return "regression" if y.is_floating_point() else "classification"


def _sizes(parts: Sequence[Tensor | None]) -> tuple[int, ...]:
    joined = torch.cat([part.view(part.size(0), -1) for part in parts if part is not None])
    return tuple((joined.max(dim=0).values + 1).tolist())


def _split_of(
    graphs: Sequence[Data], task: Task, kind: Kind, y: Tensor, seed: int, train: float, val: float, name: str
) -> Split:
    first = graphs[0]
    if len(graphs) == 1 and task == "node":
        if all(f"{part}_mask" in first for part in PARTS):
            return _split_by_masks((first.train_mask, first.val_mask, first.test_mask), len(y), seed, name)
        labels = y if kind == "classification" else None
        labelled = has_target(y).nonzero().flatten()
        return splits.random_fractions(len(y), seed, train=train, val=val, labels=labels, candidates=labelled)
    labels = y.flatten() if task == "graph" and kind == "classification" else None
    return splits.random_fractions(len(graphs), seed, train=train, val=val, labels=labels, unit="graph")


def _split_by_masks(masks: tuple[Tensor, Tensor, Tensor], nodes: int, seed: int, name: str) -> Split:
    """The split that masks describe, of a column by the seed; one without columns, as WikiCS has, is for all splits."""
    columns = max((mask.size(1) for mask in masks if mask.dim() > 1), default=0)
    for part, mask in zip(PARTS, masks, strict=True):
        if mask.shape not in ((nodes,), (nodes, columns)):
            wanted = f"[{nodes}] or [{nodes}, {columns}]" if columns else f"[{nodes}]"
            raise InputError(f"{name}, {part}_mask: has shape {list(mask.shape)}. It must have {wanted}.")
    if not columns:
        return Split.from_masks("masks", *masks)
    train, val, test = (mask if mask.dim() > 1 else mask.unsqueeze(1).expand(-1, columns) for mask in masks)
    return splits.fixed(train, val, test, seed)
