"""The work behind `graphcon data`: one function per form of the command."""

import json
import time
from pathlib import Path
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from graphcon.data import _store, show, superpixels
from graphcon.data._catalogue import describe
from graphcon.data._named import load
from graphcon.data._options import TableOptions
from graphcon.data._statistics import statistics
from graphcon.data.tables import read_tables
from graphcon.errors import InputError


def list_all(root: Path | None, console: Console, as_json: bool) -> None:
    """Prints the named sets."""
    records = show.list_sets(root)
    _print(console, records, show.sets_table(records), as_json)


def show_set(
    what: tuple[str, ...],
    root: Path | None,
    protocol: str | None,
    options: TableOptions,
    fetch: bool,
    console: Console,
    as_json: bool,
) -> None:
    """Prints the facts about a set and, where it is here or may be fetched, what it looks like."""
    name, *more = what
    if more:
        raise InputError(f"graphcon data {' '.join(what)}: takes one name, or 'build' and a name.")
    named = describe(name)
    record = show.describe_set(named, root)
    if record["on_disk"] is None and not fetch:
        page = show.set_page(record)
        _print(console, record, page, as_json)
        if not as_json:
            folder = _store.roots(root)[0] / named.folder / "raw"
            console.print(f"\nNot here: put the files into {folder}, or say --fetch.", soft_wrap=True)
        return
    dataset = load(
        named.name,
        root,
        protocol=protocol,
        seed=options.seed,
        directed=True if options.directed else None,
        download=fetch,
    )
    found = statistics(dataset)
    pages = Group(show.set_page(record), "", show.statistics_page(dataset, found))
    _print(console, record | {"read": show.dataset_record(dataset, found)}, pages, as_json)


def show_tables(
    what: tuple[str, ...],
    nodes: Path | None,
    edges: Path | None,
    graphs: Path | None,
    options: TableOptions,
    console: Console,
    as_json: bool,
) -> None:
    """Reads own tables, and prints what was understood."""
    if what:
        raise InputError(f"'{what[0]}' and --nodes: name a set or own tables, not both.")
    if nodes is None or edges is None:
        absent = "--nodes" if nodes is None else "--edges"
        raise InputError(f"{absent} is missing: own tables are a table of nodes and a table of edges.")
    dataset, schema = read_tables(nodes, edges, graphs, options)
    found = statistics(dataset)
    record = show.dataset_record(dataset, found) | {"schema": schema.to_dict()}
    pages = Group(show.statistics_page(dataset, found), "", show.schema_page(schema))
    _print(console, record, pages, as_json)


def build(
    what: tuple[str, ...],
    root: Path | None,
    out: Path | None,
    adjacency: Literal["nearest", "regions"],
    workers: int | None,
    limit: int | None,
    console: Console,
) -> None:
    """Builds the superpixel graphs, with a progress bar on a terminal and a line now and then elsewhere."""
    if what != ("mnist-superpixels",):
        raise InputError(f"graphcon data build {' '.join(what)}: can build mnist-superpixels, and nothing else.")
    start = time.monotonic()
    columns = (TextColumn("superpixels"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = 0.0
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("superpixels", total=None)

        def report(done: int, total: int) -> None:
            nonlocal shown
            progress.update(task, completed=done, total=total)
            now = time.monotonic()
            if not console.is_terminal and (done == total or now - shown > 10):
                shown = now
                print(f"{done:,} of {total:,} images, {now - start:.0f} s", flush=True)

        folder = superpixels.build(root, out, adjacency=adjacency, workers=workers, limit=limit, report=report)
    graphs = superpixels.SuperpixelGraphs(folder)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    console.print(f"{len(graphs):,} graphs in {folder} ({size:.0f} MB). {graphs.note}", soft_wrap=True)


def _print(console: Console, record: object, page: RenderableType, as_json: bool) -> None:
    if as_json:
        print(json.dumps(record, indent=1))
    elif console.is_terminal:
        console.print(page)
    else:
        # A pipe has no width; eighty columns would cut the list.
        Console(width=160).print(page)
