"""Which column is what: by the user's word, else by its name; one that is ignored is nothing by its name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graphcon._words import did_you_mean
from graphcon.data._options import TableOptions
from graphcon.data.tables.files import Table, plain
from graphcon.errors import InputError

# In the order in which they are looked for; case, spaces and underscores do not matter.
NAMES = {
    "id": ("id", "nodeid", "node"),
    "source": ("source", "src", "from", "u", "sourceid", "sourcenodeid", "start"),
    "destination": ("destination", "target", "dst", "dest", "to", "v", "targetid", "targetnodeid", "end"),
    "weight": ("weight", "edgeweight"),
    "split": ("split",),
    "graph": ("graphid",),
}


@dataclass(frozen=True)
class NodeRoles:
    """The columns of the node table.

    Attributes:
        id: The ids, None where rows count from 0.
        graph: The graph of each node, None where there is one graph.
        target: The targets, empty where graphs have them, or new data have none.
        split: One column of names or three of marks, or none.
        features: The features.
        repeated: Targets and splits of the graph table that stand here too: a feature that tells the answer is none.
    """

    id: str | None
    graph: str | None
    target: tuple[str, ...]
    split: tuple[str, ...]
    features: tuple[str, ...]
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True)
class EdgeRoles:
    """The columns of the edge table."""

    source: str
    destination: str
    weight: str | None
    graph: str | None
    features: tuple[str, ...]


@dataclass(frozen=True)
class GraphRoles:
    """The columns of the graph table; others are not used, since features belong to nodes and edges."""

    graph: str
    target: tuple[str, ...]
    split: tuple[str, ...]
    others: tuple[str, ...]


def written_columns(columns: list[str], table: Literal["nodes", "edges", "graphs"], options: TableOptions) -> set[str]:
    """The columns of a table that are read as they are written: ids, what the user calls categories, words or
    classes, and what nobody reads.
    """
    classes = options.target if options.kind == "classification" and table != "edges" else ()
    texts = {*options.categorical, *options.words, *classes}
    return _id_columns(columns, table, options) | texts | _unread_columns(columns, table, options)


def _id_columns(columns: list[str], table: Literal["nodes", "edges", "graphs"], options: TableOptions) -> set[str]:
    """Those that hold ids, of nodes or of graphs."""
    named = {"id": options.id, "source": options.source, "destination": options.destination}
    named["graph"] = options.graph_id if options.graph_id in columns else None
    free = _free(columns, options)
    roles = {"nodes": ("id", "graph"), "edges": ("source", "destination", "graph"), "graphs": ("graph",)}[table]
    found = {name for role in roles if (name := named[role] or _by_name(free, role))}
    if table == "edges" and len(columns) == 2:
        return set(columns)
    if table == "graphs" and not found:
        named = _by_name(free, "id")
        return {named} if named else set(columns[:1])
    return found


def _unread_columns(columns: list[str], table: Literal["nodes", "edges", "graphs"], options: TableOptions) -> set[str]:
    """Those that nobody reads: what the user ignores, or does not choose as a feature."""
    free = _free(columns, options)
    chosen = {"nodes": options.features, "edges": options.edge_features, "graphs": ()}[table]
    if table == "edges":
        used = {options.weight or _by_name(free, "weight")}
    else:
        used = {*options.target, *(options.split_column or [_by_name(free, "split")])}
    return (set(options.ignore) if chosen is None else set(columns)) - used - {*(chosen or ())}


def check_named(tables: Sequence[Table], options: TableOptions) -> None:
    """Refuses a slip in the options that are for the columns of any table.

    Raises:
        InputError: No table has a column of that name.
    """
    columns = list(dict.fromkeys(column for table in tables for column in table.frame.columns))
    named = {"--ignore": options.ignore, "--categorical": options.categorical, "--words": options.words}
    for option, names in named.items():
        for name in names:
            if name not in columns:
                raise InputError(
                    f"{option} {name}: no table has such a column. They have: {', '.join(columns)}."
                    + did_you_mean(name, columns, plain=plain)
                )


def find_node_roles(table: Table, options: TableOptions, *, with_graphs: bool) -> NodeRoles:
    """The roles in the node table; with a graph table, targets and splits are there."""
    identity = _find(table, "id", options, options.id, "--id")
    graph = _find(table, "graph", options, options.graph_id, "--graph-id")
    if with_graphs and graph is None:
        raise InputError(
            f"{table.path}: no column says to which graph a node belongs, which --graphs needs. "
            f"Name it with --graph-id. It has: {', '.join(table.frame.columns)}."
        )
    target = () if with_graphs else options.target
    for name in target:
        table.require(name, "--target")
    split = () if with_graphs else _find_split(table, options)
    repeated = _find_repeated(table, options) if with_graphs else ()
    taken = {identity, graph, *target, *split, *repeated}
    return NodeRoles(identity, graph, target, split, _features(table, options, options.features, taken), repeated)


def find_edge_roles(table: Table, options: TableOptions, *, with_graphs: bool) -> EdgeRoles:
    """The roles in the edge table; two columns of any names are taken as source and destination."""
    columns = table.frame.columns
    if len(columns) < 2:
        raise InputError(
            f"{table.path}: has one column, '{columns[0]}'. An edge needs two, where it starts and where it "
            "ends: name them source and destination."
        )
    source = _find(table, "source", options, options.source, "--source")
    destination = _find(table, "destination", options, options.destination, "--destination")
    if source is None and destination is None and len(columns) == 2:
        source, destination = columns
    if source is None or destination is None:
        absent = "--source" if source is None else "--destination"
        raise InputError(
            f"{table.path}: no column is called '{'source' if source is None else 'destination'}'. "
            f"Name it with {absent}. It has: {', '.join(columns)}."
        )
    if source == destination:
        raise InputError(f"{table.path}: '{source}' is named for both ends of an edge. Name two columns.")
    weight = _find(table, "weight", options, options.weight, "--weight")
    graph = _find(table, "graph", options)
    if options.graph_id in columns:
        graph = options.graph_id
    graph = graph if with_graphs else None
    taken = {source, destination, weight, graph}
    features = _features(table, options, options.edge_features, taken)
    return EdgeRoles(source, destination, weight, graph, features)


def find_graph_roles(table: Table, options: TableOptions) -> GraphRoles:
    """The roles in the graph table."""
    named = _find(table, "graph", options, options.graph_id, "--graph-id")
    graph = named or _find(table, "id", options) or table.frame.columns[0]
    for name in options.target:
        table.require(name, "--target")
    split = _find_split(table, options)
    return GraphRoles(graph, options.target, split, _features(table, options, None, {graph, *options.target, *split}))


def _find(table: Table, role: str, options: TableOptions, named: str | None = None, option: str = "") -> str | None:
    if named is not None:
        table.require(named, option)
        return named
    return _by_name(_free(table.frame.columns, options), role)


def _free(columns: Sequence[str], options: TableOptions) -> list[str]:
    return [column for column in columns if column not in options.ignore]


def _by_name(columns: Sequence[str], role: str) -> str | None:
    known = {plain(column): column for column in columns}
    return next((known[name] for name in NAMES[role] if name in known), None)


def _find_split(table: Table, options: TableOptions) -> tuple[str, ...]:
    if not options.split_column:
        found = _find(table, "split", options)
        return () if found is None or found in options.target else (found,)
    if len(options.split_column) not in (1, 3):
        raise InputError(
            f"--split-column {' '.join(options.split_column)}: must be one column of train, val and test, or "
            "three columns of zeros and ones in that order."
        )
    for name in options.split_column:
        table.require(name, "--split-column")
    return options.split_column


def _find_repeated(table: Table, options: TableOptions) -> tuple[str, ...]:
    """Columns of the node table that are targets or splits of the graph table, as where tables were joined."""
    answers = {*options.target, *(options.split_column or [_find(table, "split", options)])}
    return tuple(name for name in table.frame.columns if name in answers)


def _features(
    table: Table, options: TableOptions, named: tuple[str, ...] | None, taken: set[str | None]
) -> tuple[str, ...]:
    if named is not None:
        option = "--features" if named is options.features else "--edge-features"
        for name in named:
            table.require(name, option)
            if named.count(name) > 1:
                raise InputError(f"{option} {name}: is named {named.count(name)} times. Name it once.")
            if name in taken:
                raise InputError(
                    f"{table.path}: column '{name}' is named as a feature and has another role (id, target, "
                    "split or end of an edge). A feature that tells the answer is no feature: take it out."
                )
        return named
    return tuple(name for name in _free(table.frame.columns, options) if name not in taken)
