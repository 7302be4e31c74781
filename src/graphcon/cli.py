"""The command line: parse, call, print. What the commands do lives in the other rooms."""

import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import tyro
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from graphcon import __version__
from graphcon.data._options import DEFAULT_OPTIONS, TableOptions
from graphcon.errors import InputError

T = TypeVar("T")

app = tyro.extras.SubcommandApp()
console = Console()


@app.command
def demo(
    out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path("runs/demo"),
    seed: int = 0,
    act: Literal["tanh", "relu", "gelu", "elu", "silu"] = "tanh",
) -> None:
    """Watches 100 layers smooth a 10×10 grid, or not: GCN and GAT against GraphCON.

    Draws the Dirichlet-energy figure of the paper with random weights, in seconds.

    Example: graphcon demo --out runs/demo --seed 1 --act relu

    Args:
        out: Where the figure and the numbers go.
        seed: Seed of the features and the weights.
        act: The activation; much depends on it.
    """
    from graphcon.experiments import energy
    from graphcon.report import energy_figure

    _check_folder(out)
    curves = list(_progress(energy.curves(seed, act), energy.number_of_curves(), "Propagating"))
    groups: dict[str, dict[str, list[float]]] = {}
    table = Table(title="Dirichlet energy: how different neighbours are", title_justify="left", box=SIMPLE)
    table.add_column("network")
    shown = (1, 10, energy.LAYERS)
    for layer in shown:
        table.add_column(f"layer {layer}", justify="right")
    for curve in curves:
        groups.setdefault(curve.coupling, {})[curve.name] = curve.energy[1:].tolist()
        table.add_row(curve.name, *(f"{float(curve.energy[layer]):.1e}" for layer in shown))
    picture, numbers = out / "dirichlet_energy.png", out / "dirichlet_energy.csv"
    energy_figure(groups, picture, f"{energy.LAYERS} layers with random weights on a 10×10 grid")
    columns = {name: values for group in groups.values() for name, values in group.items()}
    _write_csv(numbers, {"layer": list(range(1, energy.LAYERS + 1)), **columns})
    console.print(table)
    console.print(f"Picture  {picture}\nNumbers  {numbers}", highlight=False)


def _check_folder(out: Path) -> None:
    for path in (out, *out.parents):
        if path.exists() and not path.is_dir():
            raise InputError(f"--out {out}: {path} is a file, but a folder is needed; name another one")


def _progress(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """A bar on a terminal, nothing elsewhere."""
    yield from track(items, what, total=total, console=console, transient=True, disable=not console.is_terminal)


def _write_csv(path: Path, columns: dict[str, list]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


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
    fetch: bool = False,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
    adjacency: Literal["nearest", "regions"] = "nearest",
    workers: int | None = None,
    limit: int | None = None,
    json: bool = False,
) -> None:
    """Lists the named data sets, shows one, checks own tables, or builds the superpixel graphs.

    Example: graphcon data
    Example: graphcon data texas --data-root FOLDER
    Example: graphcon data --nodes nodes.csv --edges edges.csv --target label
    Example: graphcon data build mnist-superpixels --data-root FOLDER

    Args:
        what: Nothing for the list, the name of a set to show it, or "build mnist-superpixels".
        data_root: Where data are looked for first; then $GRAPHCON_DATA, ~/.cache/graphcon. Never written to.
        protocol: How the set is split; its first protocol by default.
        nodes: Own table of nodes, CSV or Parquet.
        edges: Own table of edges.
        graphs: Own table of graphs, where graphs have the target.
        table: How own tables are read.
        fetch: Whether a set that is not here is downloaded.
        out: Folder to build in, by default in the cache.
        adjacency: Edges of a build, from the 8 nearest centroids or between regions that touch.
        workers: Processes of a build, as many as there are processors by default.
        limit: Only so many images of a build.
        json: Whether to print JSON.
    """
    from graphcon.data import _command

    if what[:1] == ("build",):
        _command.build(what[1:], data_root, out, adjacency, workers, limit, console)
    elif nodes is not None or edges is not None or graphs is not None:
        _command.show_tables(what, nodes, edges, graphs, table, console, json)
    elif what:
        _command.show_set(what, data_root, protocol, table, fetch, console, json)
    else:
        _command.list_all(data_root, console, json)


def main(argv: list[str] | None = None) -> int:
    """Runs one command; returns 0 done, 1 a failure inside, 2 bad input or usage, 130 interrupted."""
    argv = sys.argv[1:] if argv is None else argv
    if argv == ["--version"]:
        print(f"graphcon {__version__}")
        return 0
    try:
        app.cli(
            prog="graphcon",
            description="Deep graph networks of coupled oscillators.",
            args=argv or ["--help"],
        )
    except InputError as error:
        print(f"graphcon: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("graphcon: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
