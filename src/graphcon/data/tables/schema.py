"""Everything learned about tables, kept with a model, so that new tables are read the same way."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch_geometric.data import Data

from graphcon.data._kinds import Task
from graphcon.data._options import Decimal
from graphcon.data.tables.columns import Column
from graphcon.data.tables.connect import Connection, check_weight, join, number_graphs
from graphcon.data.tables.encode import encode
from graphcon.data.tables.files import Table, read_file
from graphcon.data.tables.roles import EdgeRoles
from graphcon.data.tables.targets import Target, encode_target
from graphcon.errors import InputError

#: Words of nodes are columns of numbers, most of them zero: 16 GB of those are what a large machine holds.
MOST_NUMBERS = 4_000_000_000


@dataclass(frozen=True)
class NewData:
    """Tables that were read by a schema: what prediction works on.

    Attributes:
        graphs: The graphs, one where there is no column of graphs.
        ids: The ids of the nodes in the order of the graphs' nodes, or of the graphs where these have the
            target.
        graph_ids: The ids of these nodes' graphs, None where there is one graph, or graphs have the target.
        order: The place of every one of `ids` in its table, counted from 0: the nodes of a graph may lie apart there.
        has_target: Whether ``y`` is there, to compare predictions with.
        notes: Unknown categories, new columns, self-loops and the like, a sentence each.
    """

    graphs: list[Data]
    ids: pl.Series
    graph_ids: pl.Series | None
    order: np.ndarray
    has_target: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TableSchema:
    """What tables looked like when a model was trained on them.

    Attributes:
        task: Whether nodes or graphs have the target.
        target: The target and its classes.
        id: The node table's column of ids; None where rows count from 0.
        graph: The column of graphs, in all tables; None where there is one graph.
        columns: The node features.
        edges: The columns of the edge table.
        edge_columns: The edge features.
        graphs: The graph table's column of ids, None where there is no such table.
        directed: Whether edges have a direction.
        degree: Whether the logarithm of the degree is a feature.
        missing: The rule for empty cells that was chosen.
        scaling: The scaling that was chosen.
        delimiter: What divides the fields of a CSV file.
        null_values: Texts that mean an empty cell.
        ignored: Columns that were left out.
        decimal: What stands before the fraction of a number in a CSV file.
        version: Of this layout.
    """

    task: Task
    target: Target
    id: str | None
    graph: str | None
    columns: tuple[Column, ...]
    edges: EdgeRoles
    edge_columns: tuple[Column, ...]
    graphs: str | None
    directed: bool
    degree: bool
    missing: str
    scaling: str
    delimiter: str | None
    null_values: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    decimal: Decimal = "."
    version: int = 1

    @property
    def num_features(self) -> int:
        """Width of ``x``."""
        return sum(column.width for column in self.columns if column.role != "index") + self.degree

    @property
    def num_categories(self) -> tuple[int, ...]:
        """Sizes of the columns of ``x_categories``."""
        return tuple(column.width for column in self.columns if column.role == "index")

    @property
    def edge_dim(self) -> int:
        """Width of ``edge_attr``."""
        return sum(column.width for column in self.edge_columns)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of ``x``, then of ``x_categories``."""
        numbers = [label for column in self.columns if column.role != "index" for label in column.labels]
        degree = ["log(1 + degree)"] if self.degree else []
        return (*numbers, *degree, *(column.name for column in self.columns if column.role == "index"))

    def apply(
        self, nodes: str | Path, edges: str | Path, graphs: str | Path | None = None, *, with_target: bool = True
    ) -> NewData:
        """Reads new tables as those of the training were read.

        Args:
            nodes: The node table.
            edges: The edge table.
            graphs: The graph table; without it, graphs come in the order of their first node.
            with_target: Whether the target is read where it is there; without, it may hold anything.

        Raises:
            InputError: A column is missing, or the tables are bad.
        """
        numbers = self.target.names if with_target and self.target.kind != "classification" else ()
        of_nodes, of_graphs = (numbers, ()) if self.task == "node" else ((), numbers)
        node_table = self._read(nodes, *of_nodes, *_guessed(self.columns)).require_rows()
        graph_table = None if graphs is None else self._read(graphs, *of_graphs).require_rows()
        edge_table = self._read(edges, self.edges.weight, *_guessed(self.edge_columns))
        self._check_columns(node_table, edge_table, graph_table)
        notes = self._new_columns(node_table, edge_table)
        for table in (node_table, edge_table, graph_table):
            notes += [] if table is None else table.note_spaces()
        ends, owners = (node_table, self.id, self.graph), (graph_table, self.graphs)
        joined, number = join(*ends, edge_table, self.edges, *owners, directed=self.directed)
        owner = graph_table if self.task == "graph" else node_table
        has_target = with_target and owner is not None and set(self.target.names) <= set(owner.frame.columns)
        y = encode_target(owner, self.target) if has_target and owner is not None else None
        made, found = self.assemble(node_table, edge_table, joined, number, y)
        ids, graph_ids, order = self._ids(node_table, graph_table, number)
        return NewData(made, ids, graph_ids, order, has_target, (*notes, *joined.notes, *found))

    def read_ids(self, nodes: str | Path, graphs: str | Path | None = None) -> tuple[pl.Series, pl.Series | None]:
        """The ``ids`` and ``graph_ids`` that :meth:`apply` finds in tables it has read without complaint, for less."""
        node_table, graph_table = self._read(nodes), None if graphs is None else self._read(graphs)
        number = None if self.graph is None else number_graphs(node_table, self.graph, graph_table, self.graphs)
        return self._ids(node_table, graph_table, number)[:2]

    def assemble(
        self, nodes: Table, edges: Table, joined: Connection, number: np.ndarray | None, y: Tensor | None
    ) -> tuple[list[Data], list[str]]:
        """The graphs of tables whose ids are looked up, and what training never saw in them."""
        x, indices, notes = _encode_all(nodes, self.columns, self.num_features)
        if self.degree:
            x[:, -1] = np.log1p(np.bincount(joined.edge_index[1], minlength=nodes.frame.height))
        tensors: dict[str, Tensor] = {}
        if x.size:
            tensors["x"] = torch.from_numpy(x)
        if indices.size:
            tensors["x_categories"] = torch.from_numpy(indices)
        if y is not None and self.task == "node":
            tensors["y"] = y
        edge_tensors: dict[str, Tensor] = {}
        if self.edges.weight is not None:
            weight = check_weight(edges, self.edges.weight)
            edge_tensors["edge_weight"] = torch.from_numpy(weight[joined.row])
        if self.edge_columns:
            attributes, _, more = _encode_all(edges, self.edge_columns, self.edge_dim)
            notes += more
            edge_tensors["edge_attr"] = torch.from_numpy(attributes[joined.row])
        edge_index = torch.from_numpy(np.ascontiguousarray(joined.edge_index))
        if number is None:
            data = Data(edge_index=edge_index, num_nodes=nodes.frame.height, **tensors, **edge_tensors)
            return [data], notes
        graph_y = y if self.task == "graph" else None
        return _divide(torch.from_numpy(number), edge_index, tensors, edge_tensors, graph_y), notes

    def _read(self, path: str | Path, *guessed: str | None) -> Table:
        """A table whose columns are read as they are written, but for those of which a type is guessed."""

        def written(header: list[str]) -> set[str]:
            return set(header) - set(guessed)

        return read_file(path, self.delimiter, self.null_values, written, self.decimal)

    def _check_columns(self, nodes: Table, edges: Table, graphs: Table | None) -> None:
        if graphs is not None and self.graphs is not None:
            graphs.require(self.graphs, "the ids of graphs, as in training")
        for name, role in ((self.id, "the ids"), (self.graph, "the graphs")):
            if name is not None:
                nodes.require(name, f"{role}, as in training")
        for column in self.columns:
            nodes.require(column.name, "a feature, as in training")
        ends = (self.edges.source, self.edges.destination, self.edges.weight, self.edges.graph)
        for name in (*ends, *(column.name for column in self.edge_columns)):
            if name is not None:
                edges.require(name, "an edge, as in training")

    def _new_columns(self, nodes: Table, edges: Table) -> list[str]:
        known = {self.id, self.graph, *self.target.names, *self.ignored, *(c.name for c in self.columns)}
        ends = {self.edges.source, self.edges.destination, self.edges.weight, self.edges.graph}
        known_edges = ends | set(self.ignored) | {c.name for c in self.edge_columns}
        notes = []
        for table, names in ((nodes, known), (edges, known_edges)):
            new = [name for name in table.frame.columns if name not in names]
            if new:
                notes.append(f"{table.path}: new since training, and not used: {', '.join(new)}.")
        return notes

    def _ids(
        self, nodes: Table, graphs: Table | None, number: np.ndarray | None
    ) -> tuple[pl.Series, pl.Series | None, np.ndarray]:
        """The ids of what is answered, of its graphs where nodes of several graphs are, and its places in the table."""
        if self.task == "graph":
            assert self.graph is not None
            ids = nodes.frame[self.graph].unique(maintain_order=True)
            if graphs is not None and self.graphs is not None:
                ids = graphs.frame[self.graphs]
            return ids, None, np.arange(len(ids))
        ids = pl.Series("id", np.arange(nodes.frame.height)) if self.id is None else nodes.frame[self.id]
        if number is None or self.graph is None:
            return ids, None, np.arange(len(ids))
        order = np.argsort(number, kind="stable")
        return ids.gather(order), nodes.frame[self.graph].gather(order), order

    def to_dict(self) -> dict:
        """Plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> "TableSchema":
        """The schema that :meth:`to_dict` described.

        Raises:
            InputError: It is of another version, or no schema.
        """
        values = {"decimal": "."} | values  # schemas of earlier runs knew no other
        if values.get("version") != 1 or set(values) != {field.name for field in fields(cls)}:
            raise InputError("the saved table schema is not of version 1. Train the model again.")
        values = dict(values)
        # Schemas of earlier runs hold the mean and the spread of the target too, which the task keeps.
        target = {key: value for key, value in values["target"].items() if key not in ("mean", "std")}
        values["target"] = Target(**_tuples(target))
        values["edges"] = EdgeRoles(**_tuples(values["edges"]))
        for key in ("columns", "edge_columns"):
            values[key] = tuple(Column(**_tuples(column)) for column in values[key])
        return cls(**_tuples(values))

    def to_json(self) -> str:
        """The schema as text."""
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_json(cls, text: str) -> "TableSchema":
        """The schema that :meth:`to_json` wrote."""
        return cls.from_dict(json.loads(text))


def _tuples(values: dict) -> dict:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def _guessed(columns: tuple[Column, ...]) -> list[str]:
    """Columns of numbers; others are compared with texts, and a type guessed from the new cells could write these in
    another way.
    """
    return [column.name for column in columns if column.role not in ("category", "index", "words")]


def _encode_all(table: Table, columns: tuple[Column, ...], width: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Numbers ``[rows, width]``, indices of categories ``[rows, columns of these]``, and notes."""
    rows, words = table.frame.height, [column for column in columns if column.role == "words"]
    if words and rows * width > MOST_NUMBERS:
        named = " and ".join(f"'{column.name}'" for column in words)
        raise InputError(
            f"{table.path}: the words of {named} make {width:,} numbers of every row, {rows * width * 4 / 1e9:.0f} GB "
            f"of all {rows:,}, and at most {MOST_NUMBERS * 4 / 1e9:.0f} GB are read. Keep fewer words with "
            "--words-limit."
        )
    numbers = np.zeros((rows, width), dtype=np.float32)
    indices = np.zeros((rows, sum(column.role == "index" for column in columns)), dtype=np.int64)
    notes: list[str] = []
    start = place = 0
    for column in columns:
        if column.role == "index":
            notes += encode(table, column, indices[:, place])
            place += 1
        else:
            notes += encode(table, column, numbers[:, start : start + column.width])
            start += column.width
    return numbers, indices, notes


def _divide(
    number: Tensor,
    edge_index: Tensor,
    tensors: dict[str, Tensor],
    edge_tensors: dict[str, Tensor],
    graph_y: Tensor | None,
) -> list[Data]:
    """One graph of many parts as many graphs, nodes and edges in their order."""
    order = torch.argsort(number, stable=True)
    counts = number.bincount().tolist()
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order))
    edge_graph = number[edge_index[0]]
    edge_order = torch.argsort(edge_graph, stable=True)
    edge_counts = edge_graph.bincount(minlength=len(counts)).tolist()
    edge_index = place[edge_index[:, edge_order]]
    parts = {name: values[order].split(counts) for name, values in tensors.items()}
    edge_parts = {name: values[edge_order].split(edge_counts) for name, values in edge_tensors.items()}
    first, graphs = 0, []
    for i, index in enumerate(edge_index.split(edge_counts, dim=1)):
        data = Data(edge_index=index - first, num_nodes=counts[i])
        for name, chunks in (*parts.items(), *edge_parts.items()):
            data[name] = chunks[i]
        if graph_y is not None:
            data.y = graph_y[i : i + 1]
        graphs.append(data)
        first += counts[i]
    return graphs
