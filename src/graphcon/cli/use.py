"""The commands before and after a training: data, evaluate, predict, export."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import tyro

from graphcon.cli._app import app, check_heard, check_run, check_tables, console
from graphcon.data._options import DEFAULT_OPTIONS, TableOptions
from graphcon.errors import InputError


@app.command
def data(
    what: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[NAME | build NAME]")] = (),
    /,
    data_root: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
    protocol: str | None = None,
    nodes: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    edges: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    graphs: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    table: Annotated[TableOptions, tyro.conf.arg(name="")] = DEFAULT_OPTIONS,
    seed: int = 0,
    fetch: bool = False,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
    adjacency: Literal["nearest", "regions"] = "nearest",
    workers: int | None = None,
    limit: int | None = None,
    json: bool = False,
) -> None:
    """Lists the named data sets, shows one, checks your own tables, or builds the superpixel graphs.

    Example: graphcon data texas --data-root FOLDER

    Example: graphcon data --nodes nodes.csv --edges edges.csv --target label

    Example: graphcon data build mnist-superpixels --data-root FOLDER

    Args:
        what: A set, or a .npz or .graphml file, to show; "build mnist-superpixels"; or nothing, for the list.
        data_root: Folder to look for data in first, then $GRAPHCON_DATA, ~/.cache/graphcon. Never written to.
        protocol: How to split the set; by default its first protocol.
        nodes: Your table of nodes, CSV or Parquet.
        edges: Your table of edges.
        graphs: Your table of graphs, if the target is per graph.
        table: How your tables are read.
        seed: Seed of a random split; graphcon train calls it --split.
        fetch: Download the set if it is not on disk.
        out: Folder to build in; by default in the cache.
        adjacency: Edges of a build: from the 8 nearest centroids, or between regions that touch.
        workers: Processes of a build; by default as many as there are processors.
        limit: Build only this many images.
        json: Print JSON.
    """
    building, own = what[:1] == ("build",), (nodes, edges, graphs) != (None, None, None)
    if building:
        of_others = {"--nodes": nodes, "--edges": edges, "--graphs": graphs, "--protocol": protocol}
        of_others |= {"--seed": seed, "--fetch": fetch, "--json": json}
        check_heard(data, of_others, "graphcon data build", "it is for other data. Leave that out")
    else:
        of_builds = {"--out": out, "--adjacency": adjacency, "--workers": workers, "--limit": limit}
        cure = "it is for a build. Leave that out, or say: graphcon data build mnist-superpixels"
        check_heard(data, of_builds, " ".join(("graphcon data", *what)), cure)
    table = replace(table, seed=seed)
    if not what:
        check_tables(nodes, edges, graphs, table)
    from graphcon.data import _command

    if building:
        _command.build(what[1:], data_root, out, adjacency, workers, limit, console)
    elif len(what) > 1:
        raise InputError(f"graphcon data {' '.join(what)}: takes one name, or 'build' and a name.")
    elif what and not what[0].endswith((".npz", ".graphml")) and not own:
        _command.show_set(what[0], data_root, protocol, table, fetch, console, json)
    elif what or own:
        from graphcon.data import open_data

        found = open_data(*what, nodes=nodes, edges=edges, graphs=graphs, protocol=protocol, options=table)
        _command.show_own(*found, console, json)
    else:
        _command.list_all(data_root, console, json)


@app.command
def evaluate(
    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    /,
    nodes: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    edges: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    graphs: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    json: bool = False,
) -> None:
    """Measures a run on its held-out part, or on new tables that have the target.

    Example: graphcon evaluate runs/texas-gcn

    Example: graphcon evaluate runs/mine --nodes new_nodes.csv --edges new_edges.csv --json

    Args:
        run: A run folder.
        nodes: Table of nodes.
        edges: Table of edges.
        graphs: Table of graphs.
        json: Print JSON.
    """
    check_run(run)
    from graphcon.training import commands

    commands.evaluate(run, nodes, edges, graphs, console, json)


@app.command
def predict(
    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    /,
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")],
    nodes: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    edges: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    graphs: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
) -> None:
    """Writes labels with probabilities, or values, for new tables or for the data of the training.

    Example: graphcon predict runs/mine --nodes new_nodes.csv --edges new_edges.csv --out answers.csv

    Example: graphcon predict runs/texas-gcn --out answers.parquet

    Args:
        run: A run folder.
        out: File for the answers, .csv or .parquet.
        nodes: Table of nodes, as in training.
        edges: Table of edges.
        graphs: Table of graphs.
    """
    check_run(run)
    from graphcon.training import commands

    commands.predict(run, nodes, edges, graphs, out, console)


@app.command
def export(
    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    /,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
) -> None:
    """Writes a program that runs with PyTorch alone, on graphs of any size.

    Example: graphcon export runs/texas-gcn

    Args:
        run: A run folder.
        out: The file; by default model.pt2 in the run folder.
    """
    check_run(run)
    from graphcon.training import commands

    commands.export(run, out, console)
