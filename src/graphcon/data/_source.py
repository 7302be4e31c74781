"""One door for every command: a named set, a file in another format, or own tables."""

from dataclasses import fields
from pathlib import Path

from graphcon.data import _made
from graphcon.data._catalogue import describe
from graphcon.data._dataset import GraphDataset
from graphcon.data._named import load
from graphcon.data._options import DEFAULT_OPTIONS, NAMED_SET_OPTIONS, TableOptions, check_meaning
from graphcon.data.tables import TableSchema, read_tables
from graphcon.errors import InputError


def open_data(
    name: str | None = None,
    *,
    nodes: str | Path | None = None,
    edges: str | Path | None = None,
    graphs: str | Path | None = None,
    options: TableOptions = DEFAULT_OPTIONS,
    root: str | Path | None = None,
    protocol: str | None = None,
    download: bool = True,
) -> tuple[GraphDataset, TableSchema | None]:
    """What a user named, with the schema to read new tables by where it came from tables.

    Args:
        name: A named set, one that is made (``graph-transfer-path-16``, also ``ring`` and ``tree``; ``ppi-planted``),
            or a ``.npz`` (gnn-benchmark) or ``.graphml`` file.
        nodes: Own table of nodes.
        edges: Own table of edges.
        graphs: Own table of graphs.
        options: The choices for own tables; its seed chooses the split of a named set too, and its direction counts.
        root: Where named sets are looked for first.
        protocol: How a named set is split.
        download: Whether a named set may be fetched.

    Raises:
        InputError: There are no such data, they are bad, or an option has no meaning for them.
    """
    if name is not None and (nodes is not None or edges is not None or graphs is not None):
        raise InputError(f"'{name}' and --nodes or --edges: name a set or own tables, not both.")
    if name is None:
        _check_protocol(protocol, "own tables")
        return read_tables(nodes, edges, graphs, options)
    if name.endswith((".npz", ".graphml")):
        _check_protocol(protocol, f"'{name}'")
        return _open_file(name, options)
    if (made := _made.make(name, root, options.seed)) is not None:
        _check_protocol(protocol, f"'{name}'")
        check_meaning(options, name, ("seed", "undirected"))
        return made, None
    check_meaning(options, describe(name).name, NAMED_SET_OPTIONS)
    choices = {"protocol": protocol, "seed": options.seed, "directed": options.direction}
    return load(name, root, download=download, **choices), None


def _check_protocol(protocol: str | None, what: str) -> None:
    if protocol is not None:
        raise InputError(
            f"protocol '{protocol}': of no effect for {what}, only named sets have protocols. Leave it out; own tables "
            "are split by --split-column, or at random by --train and --val."
        )


def _open_file(name: str, options: TableOptions) -> tuple[GraphDataset, TableSchema | None]:
    from graphcon.data import convert

    if name.endswith(".npz"):
        check_meaning(options, name, ("train", "val", *NAMED_SET_OPTIONS))
        shares = {"seed": options.seed, "train": options.train, "val": options.val}
        return convert.from_npz(name, directed=bool(options.direction), **shares), None
    in_the_file = ("id", "source", "destination", "delimiter", "null_values")  # GraphML says these itself
    check_meaning(options, name, tuple(f.name for f in fields(options) if f.name not in in_the_file))
    return convert.from_graphml(name, options=options)
