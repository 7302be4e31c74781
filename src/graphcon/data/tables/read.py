"""Reads people's own tables into a :class:`GraphDataset`, and says how in a :class:`TableSchema`."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch import Tensor

from graphcon._ranges import check_ranges
from graphcon.data._dataset import GraphDataset, has_target
from graphcon.data._options import TableOptions
from graphcon.data._split import Split
from graphcon.data.splits import random_fractions
from graphcon.data.tables import targets
from graphcon.data.tables.columns import Column, find_role, learn
from graphcon.data.tables.connect import Connection
from graphcon.data.tables.files import Table
from graphcon.data.tables.hints import hint_at_meaning
from graphcon.data.tables.opened import OpenTables, Source, open_tables
from graphcon.data.tables.roles import NodeRoles
from graphcon.data.tables.schema import TableSchema
from graphcon.errors import InputError


def read_tables(
    nodes: Source | None,
    edges: Source | None,
    graphs: Source | None = None,
    options: TableOptions | None = None,
    **changes,
) -> tuple[GraphDataset, TableSchema]:
    """Nodes and edges as CSV or Parquet, with a target to learn.

    Args:
        nodes: The node table: a row per node. A file, or a polars data frame.
        edges: The edge table: a row per edge.
        graphs: The graph table, where graphs have the target: a row per graph.
        options: The user's choices.
        changes: Single choices, by the names of :class:`TableOptions`; ``target="label"`` is enough for one
            column.

    Returns:
        The data with their split, and the schema to read new tables by.

    Raises:
        InputError: Something is wrong with the tables: the file, the row, the column, the rule and the cure.
    """
    for key in ("target", "split_column", "ignore", "categorical", "words", "features", "edge_features"):
        if changes.get(key) is not None:
            changes[key] = (changes[key],) if isinstance(changes[key], str) else tuple(changes[key])
    options = replace(options or TableOptions(), **changes)
    check_ranges(options)
    opened = open_tables(nodes, edges, graphs, options)
    node_table, edge_table, graph_table = opened.nodes, opened.edges, opened.graphs
    roles, edge_roles, graph_roles = opened.roles, opened.edge_roles, opened.graph_roles
    joined, number = opened.joined, opened.number

    owner, names, split_columns = node_table, roles.target, roles.split
    if graph_table is not None and graph_roles is not None:
        owner, names, split_columns = graph_table, graph_roles.target, graph_roles.split
    target = targets.find_target(owner, names, options)
    y = targets.encode_target(owner, target)
    if number is not None and graph_table is None:
        split, notes = _split_by_graph(node_table, split_columns, target, y, number, options)
    else:
        unit = "graph" if graph_table is not None else "node"
        split, notes = targets.find_split(owner, split_columns, target, y, options, unit)
    for table in (node_table, edge_table, graph_table):
        notes += [] if table is None else table.note_spaces()
    notes += _note_repeated(opened, options)
    notes += targets.find_look_alikes(owner, target) + targets.find_doubts(owner, target, options)
    if graph_roles is not None and graph_roles.others:
        notes.append(
            f"{owner.path}: not used: {', '.join(graph_roles.others)}. Features belong to nodes or edges. "
            "To use them, write them into the rows of each graph's nodes."
        )
    training = _training_rows(split, number)

    columns, of_columns = _learn_columns(node_table, roles.features, training, options)
    notes += of_columns
    touching = _training_edges(joined, training, node_table.frame.height, edge_table.frame.height)
    edge_columns, more = _learn_columns(edge_table, edge_roles.features, touching, options)
    notes += more
    _check_features(node_table, roles, of_columns, edge_table, columns, edge_columns, options)
    schema = TableSchema(
        task="node" if graph_table is None else "graph",
        target=target,
        id=roles.id,
        graph=roles.graph,
        columns=columns,
        edges=edge_roles,
        edge_columns=edge_columns,
        graphs=None if graph_roles is None else graph_roles.graph,
        directed=bool(options.direction),
        degree=options.degree,
        missing=options.missing,
        scaling=options.scaling,
        delimiter=options.delimiter,
        null_values=options.null_values,
        ignored=_find_unused(opened, columns, edge_columns),
        decimal=options.decimal,
    )
    made, more = schema.assemble(node_table, edge_table, joined, number, y)
    if roles.id is None:
        notes.append(f"{node_table.path}: no column of ids, nodes are numbered from 0 in the order of the rows.")
    dataset = GraphDataset(
        name=Path(node_table.path).name,
        graphs=made,
        task=schema.task,
        kind=target.kind,
        num_outputs=target.num_outputs,
        num_features=schema.num_features,
        split=split,
        splitter=None,
        num_categories=schema.num_categories,
        edge_dim=schema.edge_dim,
        class_names=target.names if target.kind == "multilabel" else target.classes,
        target_names=target.names,
        feature_names=schema.feature_names,
        directed=bool(options.direction),
        notes=(*joined.notes, *notes, *more),
    )
    return dataset, schema


def _note_repeated(opened: OpenTables, options: TableOptions) -> list[str]:
    """A note on columns of the node table that would tell the answer, where the user left it to us to choose."""
    repeated = [name for name in opened.roles.repeated if name not in options.ignore]
    if not repeated or options.features is not None or opened.graphs is None:
        return []
    return [
        f"{opened.nodes.path}: not used: {', '.join(repeated)}. Targets and splits are those of {opened.graphs.path}, "
        "and a feature that tells the answer is no feature."
    ]


def _find_unused(opened: OpenTables, columns: tuple[Column, ...], edge_columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The columns of all tables that have no role, or are read in training only."""
    roles, ends = opened.roles, opened.edge_roles
    used = {roles.id, roles.graph, *roles.target, *(column.name for column in columns)}
    unused = set(opened.nodes.frame.columns) - used
    used = {ends.source, ends.destination, ends.weight, ends.graph, *(column.name for column in edge_columns)}
    unused |= set(opened.edges.frame.columns) - used
    if opened.graphs is not None and opened.graph_roles is not None:
        unused |= set(opened.graphs.frame.columns) - {opened.graph_roles.graph, *opened.graph_roles.target}
    return tuple(sorted(unused))


def _split_by_graph(
    nodes: Table,
    columns: tuple[str, ...],
    target: targets.Target,
    y: Tensor,
    number: np.ndarray,
    options: TableOptions,
) -> tuple[Split, list[str]]:
    """Targets per node in many graphs: whole graphs are for training, validation and test."""
    unlabelled = ~has_target(y)
    if unlabelled.any():
        place = int(unlabelled.nonzero()[0])
        raise InputError(
            f"{nodes.at(place, target.names[0])}: an empty cell. Where nodes of many graphs have the target, "
            "each must have one: fill it in, or leave the column of graphs out with --ignore."
        )
    count = int(number.max()) + 1
    if not columns:
        split = random_fractions(count, options.seed, train=options.train, val=options.val, unit="graph")
        absent = targets.find_absent(nodes, target, y[_training_rows(split, number)])
        return split, targets.find_empty(nodes, split, options) + absent
    told, notes = targets.find_split(nodes, columns, target, y, options, "node")
    part_of = np.full(count, -1)
    size = np.bincount(number, minlength=count)
    for part, (name, index) in enumerate(told.parts()):
        inside = np.bincount(number[index.numpy()], minlength=count)
        torn = (inside > 0) & (inside < size)
        if torn.any():
            apart = torn[number]
            apart[index.numpy()] = False
            nodes.refuse(
                columns[0],
                pl.Series(apart),
                f"Other nodes of this graph are in the {name} part. A graph must lie wholly in one part: correct the "
                "column, or read all as one graph by leaving out the column of graphs with --ignore.",
            )
        part_of[inside > 0] = part
    parts = (torch.from_numpy(np.flatnonzero(part_of == part)) for part in range(3))
    return Split(told.name, *parts, size=count, unit="graph"), notes


def _training_rows(split: Split, number: np.ndarray | None) -> np.ndarray:
    if number is None:
        return split.train.numpy()
    return np.flatnonzero(np.isin(number, split.train.numpy()))


def _training_edges(joined: Connection, training: np.ndarray, num_nodes: int, num_edges: int) -> np.ndarray:
    """Rows of the edge table with an end in the training part; all where there are none."""
    inside = np.zeros(num_nodes, dtype=bool)
    inside[training] = True
    touching = np.flatnonzero(inside[joined.edge_index[:, :num_edges]].any(axis=0))
    return touching if len(touching) else np.arange(num_edges)


def _learn_columns(
    table: Table, names: tuple[str, ...], training: np.ndarray, options: TableOptions
) -> tuple[tuple[Column, ...], list[str]]:
    columns, notes = [], []
    for name in names:
        role, note = find_role(table, name, options)
        if note:
            notes.append(f"{table.path}: {note}")
        if role is not None:
            columns.append(learn(table, name, role, training, options))
    return tuple(columns), notes


def _check_features(
    nodes: Table,
    roles: NodeRoles,
    notes: list[str],
    edges: Table,
    columns: tuple[Column, ...],
    edge_columns: tuple[Column, ...],
    options: TableOptions,
) -> None:
    if not columns and not options.degree:
        others = ", ".join(sorted({*nodes.frame.columns} - set(roles.features))) or "none"
        raise InputError(
            f"{nodes.path}: no column is a feature (other roles: {others}). A model needs numbers, truth "
            "values, categories or words per node: add a column, or say --degree to use the number of "
            f"neighbours. {' '.join(notes)}".rstrip()
        )
    for column in edge_columns:
        if column.role == "index":
            hint = hint_at_meaning(edges.frame[column.name].cast(pl.String))
            raise InputError(
                f"{edges.path}, column '{column.name}': has {len(column.categories)} categories, more than "
                f"--one-hot-limit {options.one_hot_limit}.{hint} {'Else raise' if hint else 'Raise'} the limit, or "
                f"leave the column out with --ignore {column.name}."
            )
