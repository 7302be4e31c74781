"""From ids to numbers: which rows of the node table an edge joins, and which graph a row belongs to."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphcon._words import counted
from graphcon.data.tables.cells import as_numbers, check_finite
from graphcon.data.tables.files import Table, show
from graphcon.data.tables.roles import EdgeRoles


@dataclass(frozen=True)
class Connection:
    """The edges of a table in numbers.

    Attributes:
        edge_index: Rows of the node table, [2, edges]: the table's edges, and after them, where edges have no
            direction, those that are not self-loops once more the other way round.
        row: The row of the edge table that each comes from.
        notes: Self-loops, duplicates and isolated nodes, counted.
    """

    edge_index: np.ndarray
    row: np.ndarray
    notes: tuple[str, ...]


def join(
    nodes: Table,
    identity: str | None,
    graph: str | None,
    edges: Table,
    roles: EdgeRoles,
    graphs: Table | None,
    column: str | None,
    *,
    directed: bool,
) -> tuple[Connection, np.ndarray | None]:
    """The edges in the numbering of the node table, and the number of every node's graph, where there are many.

    Args:
        nodes: The node table.
        identity: Its column of ids, None where rows count from 0.
        graph: Its column of graphs, None where there is one graph.
        edges: The edge table.
        roles: The columns of the edge table.
        graphs: The graph table, where there is one.
        column: Its column of ids.
        directed: Whether edges go one way only.
    """
    # Ids may start anew in every graph, if the edges say to which graph they belong.
    in_graph = graph if roles.graph is not None else None
    check_ids(nodes, identity, in_graph, apart=graph)
    check_ids(nodes, None, graph)
    joined = connect(nodes, identity, in_graph, edges, roles, directed=directed)
    if graph is None:
        return joined, None
    number = number_graphs(nodes, graph, graphs, column)
    # What follows the table's own edges are the same the other way round, in rows told already.
    check_within_graphs(edges, roles, joined.edge_index[:, : edges.frame.height], number)
    return joined, number


def check_ids(nodes: Table, identity: str | None, graph: str | None, apart: str | None = None) -> None:
    """Raises where an id is empty or occurs twice; with `graph`, twice in one graph.

    Args:
        nodes: The node table.
        identity: Its column of ids.
        graph: Its column of graphs, where ids may start anew in every graph.
        apart: Its column of graphs, where ids may not, because the edge table has no such column.
    """
    for name in (identity, graph):
        if name is None:
            continue
        nodes.require_plain(name, "An id")
        if nodes.frame[name].null_count():
            what = "an id" if name == identity else "a graph"
            rule = f"Every node must have {what}: fill it in, or delete the row."
            nodes.refuse(name, nodes.frame[name].is_null(), rule)
    if identity is None:
        return
    key = pl.struct([graph, identity]) if graph is not None else pl.col(identity)
    repeated = ~nodes.frame.select(key.is_first_distinct()).to_series()
    if repeated.any():
        place = int(repeated.arg_true()[0])
        same = pl.col(identity) == nodes.frame[identity][place]
        if graph is not None:
            same &= pl.col(graph) == nodes.frame[graph][place]
        first = int(nodes.frame.select(same.arg_true()).to_series()[0])
        rule = f"The id is that of row {first + nodes.first_row} already"
        if apart is not None and nodes.frame[apart][place] != nodes.frame[apart][first]:
            rule += ", in another graph. Where ids start anew in every graph, the edge table must tell the graph of "
            nodes.refuse(identity, repeated, f"{rule}every edge too: add the column '{apart}' there.")
        nodes.refuse(identity, repeated, f"{rule}. Ids must differ: correct or delete one.")


def connect(
    nodes: Table, identity: str | None, graph: str | None, edges: Table, roles: EdgeRoles, *, directed: bool
) -> Connection:
    """The edges in the numbering of the node table.

    Args:
        nodes: The node table, its ids checked.
        identity: Its column of ids, None where rows count from 0.
        graph: Its column of graphs; used to tell ids apart where the edge table has such a column too.
        edges: The edge table.
        roles: The columns of the edge table.
        directed: Whether edges go one way only.
    """
    ids = pl.Series(np.arange(nodes.frame.height)) if identity is None else nodes.frame[identity]
    if roles.graph is not None and graph is not None:
        _check_graphs(nodes, graph, edges, roles.graph)
    ends = []
    for column in (roles.source, roles.destination):
        edges.require_plain(column, "An id")
        values = edges.frame[column]
        if values.null_count():
            edges.refuse(column, values.is_null(), "An edge must have two ends: fill it in, or delete the row.")
        if roles.graph is not None and graph is not None:
            found = _look_up_in_graph(nodes.frame[graph], ids, edges.frame[roles.graph], values)
        else:
            found = _look_up(ids, values)
        unknown = found < 0
        if unknown.any():
            first = int(unknown.argmax())
            of = None if roles.graph is None or graph is None else edges.frame[roles.graph][first]
            rule = _unknown_rule(nodes, identity, values, of, all_unknown=bool(unknown.all()))
            rule += _spaces(ids, values[first])
            edges.refuse(column, pl.Series(unknown), rule)
        ends.append(found)
    pair = np.stack(ends)
    kind = "with direction, as listed" if directed else "without direction: each is used both ways"
    notes = count_edges(edges.path, nodes.frame.height, pair, kind)
    row = np.arange(pair.shape[1])
    if not directed:
        notes += _count_listed_twice(edges.path, nodes.frame.height, pair)
        back = np.flatnonzero(pair[0] != pair[1])
        pair = np.concatenate([pair, pair[::-1, back]], axis=1)
        row = np.concatenate([row, back])
    return Connection(pair, row, notes)


def _unknown_rule(nodes: Table, identity: str | None, values: pl.Series, of: object, *, all_unknown: bool) -> str:
    """What to say of an end of an edge that is no node, or none of the graph `of`."""
    rule = f"{nodes.path} has no node of that id" + ("" if of is None else f" in graph {show(of)}")
    if identity is None:
        return (
            f"{rule}: it has no column called id, so its rows are numbered from 0. Name the column of the ids with "
            f"--id. It has: {', '.join(nodes.frame.columns)}."
        )
    cure = "Add the node, or delete the edge."
    ids = nodes.frame[identity]
    rule += f" (ids are in its column '{identity}'"
    here, there = _kind(values), _kind(ids)
    if all_unknown and here != there:
        return (
            f"{rule}, the first is {show(ids[0])}). None of this column is one: ids here are {here}, there {there}. "
            "Write them the same way in both tables."
        )
    return f"{rule}). {cure}"


def _spaces(ids: pl.Series, value: object) -> str:
    """A hint where an id would be found, were it not for spaces around it."""
    texts = ids.cast(pl.String)
    near = texts.filter((texts.str.strip_chars() == str(value).strip()) & (texts != str(value)))
    return f" There is {show(near[0])}, which differs in spaces only: take them away." if len(near) else ""


def _kind(ids: pl.Series) -> str:
    if ids.dtype.is_integer() or _integers(ids) is not None:
        return "integers"
    if ids.dtype.is_float() or (ids.dtype == pl.String and ids.str.contains(r"^[+-]?\d+\.\d+$").all()):
        return "numbers with a point"
    return "dates" if ids.dtype.is_temporal() else "text"


def _check_graphs(nodes: Table, graph: str, edges: Table, column: str) -> None:
    """Raises where an edge has no graph, or one without nodes."""
    edges.require_plain(column, "An id")
    values = edges.frame[column]
    if values.null_count():
        edges.refuse(column, values.is_null(), "Every edge must have one, as nodes have: fill it in.")
    known = nodes.frame[graph].cast(pl.String).unique()
    unknown = ~values.cast(pl.String).is_in(known.implode())
    if unknown.any():
        rule = f"{nodes.path} has no graph of that id in its column '{graph}'. Correct it, add its nodes, or delete"
        edges.refuse(column, unknown, f"{rule} the edge.")


def number_graphs(nodes: Table, graph: str, graphs: Table | None, column: str | None) -> np.ndarray:
    """The number of the graph that every node belongs to: in the order of the graph table, else of
    appearance.
    """
    values = nodes.frame[graph]
    if graphs is None or column is None:
        order = values.unique(maintain_order=True)
        return _look_up(order, values)
    graphs.require_plain(column, "An id")
    keys = graphs.frame[column]
    if keys.null_count():
        graphs.refuse(column, keys.is_null(), "Every graph must have an id: fill it in.")
    repeated = ~keys.is_first_distinct()
    if repeated.any():
        graphs.refuse(column, repeated, "The id of a graph occurs twice. Ids must differ: delete one row.")
    number = _look_up(keys, values)
    if (number < 0).any():
        nodes.refuse(graph, pl.Series(number < 0), f"{graphs.path} has no graph of that id: add it there.")
    without = np.bincount(number, minlength=len(keys)) == 0
    if without.any():
        graphs.refuse(column, pl.Series(without), f"{nodes.path} has no node of this graph: delete the row.")
    return number


def check_within_graphs(edges: Table, roles: EdgeRoles, pair: np.ndarray, number: np.ndarray) -> None:
    """Raises where an edge joins nodes of two graphs."""
    across = number[pair[0]] != number[pair[1]]
    if across.any():
        edges.refuse(
            roles.destination,
            pl.Series(across),
            "The edge joins nodes of two graphs. Correct it; where ids are numbered anew in every graph, "
            "the edge table needs the column of graph ids too.",
        )


def _look_up(keys: pl.Series, values: pl.Series) -> np.ndarray:
    """The place of every value among the keys, -1 where it is none of them: compared as they are written."""
    numbers, asked = _integers(keys), _integers(values)
    if numbers is None or asked is None:
        keys, values = keys.cast(pl.String), values.cast(pl.String)
    else:
        keys, values = pl.Series(numbers), pl.Series(asked)
        low, high = int(numbers.min()), int(numbers.max())
        # Ids that lie close together are looked up in an array: ten times as fast as a join.
        if high - low < 8 * (len(keys) + len(values)):
            place = np.full(high - low + 1, -1, dtype=np.int64)
            place[numbers - low] = np.arange(len(numbers))
            inside = (asked >= low) & (asked <= high)
            return np.where(inside, place[np.where(inside, asked - low, 0)], -1)
    table = pl.DataFrame({"key": keys, "place": np.arange(len(keys))})
    found = pl.DataFrame({"key": values}).join(table, on="key", how="left", maintain_order="left")
    return found["place"].fill_null(-1).to_numpy(writable=True)


def _integers(values: pl.Series) -> np.ndarray | None:
    """Ids as integers, None where one of them would not be written that way: 007, 3.0 or a word."""
    if values.dtype.is_integer() and values.dtype != pl.UInt64:
        return values.cast(pl.Int64).to_numpy()
    if values.dtype != pl.String:
        return None
    numbers = values.cast(pl.Int64, strict=False)
    if numbers.null_count() or not (numbers.cast(pl.String) == values).all():
        return None
    return numbers.to_numpy()


def _look_up_in_graph(graph: pl.Series, ids: pl.Series, of: pl.Series, values: pl.Series) -> np.ndarray:
    table = pl.DataFrame({"graph": graph.cast(pl.String), "key": ids.cast(pl.String), "place": np.arange(len(ids))})
    asked = pl.DataFrame({"graph": of.cast(pl.String), "key": values.cast(pl.String)})
    found = asked.join(table, on=["graph", "key"], how="left", maintain_order="left")
    return found["place"].fill_null(-1).to_numpy(writable=True)


def count_edges(name: str, num_nodes: int, pair: np.ndarray, kind: str) -> tuple[str, ...]:
    """Notes on the edges: how many, and self-loops, duplicates and isolated nodes, which are all kept.

    Args:
        name: The file or the set, for the notes.
        num_nodes: How many nodes there are.
        pair: The edges, [2, edges].
        kind: What their direction means.
    """
    source, destination = pair
    proper = source != destination
    touched = np.zeros(num_nodes, dtype=bool)
    touched[source[proper]] = True
    touched[destination[proper]] = True
    counts = (
        ("self-loop", len(source) - int(proper.sum())),
        ("duplicate edge", len(source) - pl.Series(source * num_nodes + destination).n_unique()),
        ("isolated node", num_nodes - int(touched.sum())),
    )
    odd = (f"{name}: {counted(count, what)}, kept." for what, count in counts if count)
    return (f"{name}: {counted(len(source), 'edge')}, {kind}.", *odd)


def _count_listed_twice(name: str, num_nodes: int, pair: np.ndarray) -> tuple[str, ...]:
    """A note on edges that are used both ways, and are listed both ways."""
    source, destination = pair
    one_way = pl.Series(source * num_nodes + destination).n_unique()
    either = pl.Series(pair.min(axis=0) * num_nodes + pair.max(axis=0)).n_unique()
    if one_way == either:
        return ()
    return (
        f"{name}: {counted(one_way - either, 'edge')} listed in both directions, counted twice. "
        "If the table holds both directions of every edge, say --directed.",
    )


def check_weight(edges: Table, weight: str) -> np.ndarray:
    """The weights as numbers; an empty, infinite or negative one is refused."""
    edges.require_plain(weight, "A weight")
    values = edges.frame[weight]
    numbers = as_numbers(values)
    odd = values.is_not_null() & numbers.is_null()
    cure = "correct it, name another column with --weight, or leave weights out with --ignore"
    if odd.any():
        edges.refuse(weight, odd, f"A weight must be a number: {cure} {weight}.")
    bad = ~((numbers >= 0) & numbers.is_finite()).fill_null(False)
    if bad.any():
        edges.refuse(weight, bad, f"A weight must be a finite number, not below 0: {cure} {weight}.")
    check_finite(edges, weight, numbers, "A weight", "correct it.")
    return numbers.to_numpy().astype(np.float32)
