"""Own tables opened: read, every column given its role, nodes and edges joined. Needs no PyTorch."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from graphcon.data._options import TableOptions
from graphcon.data.tables.connect import Connection, join
from graphcon.data.tables.files import Table, read_file
from graphcon.data.tables.roles import (
    EdgeRoles,
    GraphRoles,
    NodeRoles,
    check_named,
    find_edge_roles,
    find_graph_roles,
    find_node_roles,
    written_columns,
)
from graphcon.data.tables.spaces import strip_numbers
from graphcon.errors import InputError

Source = str | Path | pl.DataFrame


@dataclass(frozen=True)
class OpenTables:
    """The tables and what their names and ids tell.

    Attributes:
        nodes: The node table.
        edges: The edge table.
        graphs: The graph table, where graphs have the target.
        roles: The columns of the node table.
        edge_roles: The columns of the edge table.
        graph_roles: The columns of the graph table.
        joined: The edges as numbers of nodes.
        number: The number of every node's graph, where there are many graphs.
    """

    nodes: Table
    edges: Table
    graphs: Table | None
    roles: NodeRoles
    edge_roles: EdgeRoles
    graph_roles: GraphRoles | None
    joined: Connection
    number: np.ndarray | None


def open_tables(nodes: Source | None, edges: Source | None, graphs: Source | None, options: TableOptions) -> OpenTables:
    """Reads the tables and finds their way about.

    Args:
        nodes: The node table, a file or a polars data frame.
        edges: The edge table.
        graphs: The graph table, where graphs have the target.
        options: The user's choices.

    Raises:
        InputError: A table is missing, or a file, a row, a column, an id or an edge is wrong.
    """
    if nodes is None or edges is None:
        absent = "--nodes" if nodes is None else "--edges"
        raise InputError(f"{absent} is missing: own tables are a table of nodes and a table of edges.")
    node_table, edge_table = as_table(nodes, "nodes", options).require_rows(), as_table(edges, "edges", options)
    graph_table = None if graphs is None else as_table(graphs, "graphs", options).require_rows()
    check_named([table for table in (node_table, edge_table, graph_table) if table is not None], options)
    roles = find_node_roles(node_table, options, with_graphs=graph_table is not None)
    edge_roles = find_edge_roles(edge_table, options, with_graphs=roles.graph is not None)
    graph_roles = None if graph_table is None else find_graph_roles(graph_table, options)
    ends, owners = (node_table, roles.id, roles.graph), (graph_table, graph_roles.graph if graph_roles else None)
    joined, number = join(*ends, edge_table, edge_roles, *owners, directed=bool(options.direction))
    return OpenTables(node_table, edge_table, graph_table, roles, edge_roles, graph_roles, joined, number)


def as_table(source: Source, label: Literal["nodes", "edges", "graphs"], options: TableOptions) -> Table:
    """A table from a file or a data frame; the latter goes by `label` in messages."""
    written = partial(written_columns, table=label, options=options)
    if isinstance(source, pl.DataFrame):
        frame, spaced = strip_numbers(source, written(source.columns))
        return Table(label, frame, spaced=spaced)
    return read_file(source, options.delimiter, options.null_values, written, options.decimal)
