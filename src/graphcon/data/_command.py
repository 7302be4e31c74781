"""The work behind `graphcon data`: one function per form of the command."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from graphcon._console import make_console, say
from graphcon.data import _store, show
from graphcon.data._catalogue import CATALOGUE, describe
from graphcon.data._options import NAMED_SET_OPTIONS, TableOptions, check_meaning
from graphcon.errors import InputError

if TYPE_CHECKING:
    from graphcon.data._dataset import GraphDataset
    from graphcon.data.tables import TableSchema


def list_all(root: Path | None, console: Console, as_json: bool) -> None:
    """Prints the named sets."""
    records = show.list_sets(root)
    _print(console, records, show.sets_table(records), as_json)


def show_set(
    name: str,
    root: Path | None,
    protocol: str | None,
    options: TableOptions,
    fetch: bool,
    console: Console,
    as_json: bool,
) -> None:
    """Prints the facts about a set and, where it is here or may be fetched, what it looks like."""
    if name not in CATALOGUE:  # one that is made on the spot, if any
        from graphcon.data import open_data

        show_own(*open_data(name, root=root, protocol=protocol, options=options), console, as_json)
        return
    named = describe(name)
    check_meaning(options, name, NAMED_SET_OPTIONS)
    record = show.describe_set(named, root)
    if record["on_disk"] is None and not fetch:
        folder = _store.roots(root)[0] / named.folder / "raw"
        cure = Text(f"Not here: put the files into {folder}, or say --fetch.")
        _print(console, record, Group(show.set_page(record), "", cure), as_json)
        return
    from graphcon.data import open_data, statistics

    dataset, _ = open_data(named.name, root=root, protocol=protocol, options=options, download=fetch)
    found = statistics(dataset)
    record = show.describe_set(named, root)  # once more: it may have been fetched
    pages = Group(show.set_page(record), "", show.statistics_page(dataset, found))
    _print(console, record | {"read": show.dataset_record(dataset, found)}, pages, as_json)


def show_own(dataset: "GraphDataset", schema: "TableSchema | None", console: Console, as_json: bool) -> None:
    """Prints what was understood of own tables or files."""
    from graphcon.data import statistics

    found = statistics(dataset)
    record, page = show.dataset_record(dataset, found), show.statistics_page(dataset, found)
    if schema is not None:
        record["schema"] = schema.to_dict()
        page = Group(page, "", show.schema_page(schema))
    _print(console, record, page, as_json)


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
    from graphcon.data import superpixels

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
    say(console, f"{len(graphs):,} graphs in {folder} ({size:.0f} MB). {graphs.note}")


def _print(console: Console, record: object, page: RenderableType, as_json: bool) -> None:
    if as_json:
        print(json.dumps(record, indent=1))
    elif console.is_terminal:
        console.print(page)
    else:
        # A pipe has no width; eighty columns would cut the list.
        make_console(width=160).print(page)
