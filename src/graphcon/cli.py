"""The command line: parse, call, print. What the commands do lives in the other rooms."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console

from graphcon import __version__
from graphcon.data._options import DEFAULT_OPTIONS, TableOptions
from graphcon.errors import InputError

app = tyro.extras.SubcommandApp()
console = Console()


@app.command
def demo(
    out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path("runs/demo"),
    seed: int = 0,
) -> None:
    """Watches 100 layers smooth a 10×10 grid, or not: GCN and GAT against GraphCON.

    Draws the Dirichlet-energy figure of the paper with random weights, in seconds.

    Example: graphcon demo --out runs/demo --seed 1

    Args:
        out: Where the figure and the numbers go.
        seed: Seed of the features and the weights.
    """
    from graphcon.experiments import energy

    energy.run(out, seed, console)


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

    Example: graphcon data texas --data-root FOLDER

    Example: graphcon data --nodes nodes.csv --edges edges.csv --target label

    Example: graphcon data build mnist-superpixels --data-root FOLDER

    Args:
        what: Nothing for the list; a set, a .npz or a .graphml file to show; or "build mnist-superpixels".
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
    elif len(what) > 1:
        raise InputError(f"graphcon data {' '.join(what)}: takes one name, or 'build' and a name.")
    elif what and not what[0].endswith((".npz", ".graphml")) and nodes is None:
        _command.show_set(what[0], data_root, protocol, table, fetch, console, json)
    elif what or nodes is not None or edges is not None or graphs is not None:
        from graphcon.data import open_data

        own = open_data(*what, nodes=nodes, edges=edges, graphs=graphs, options=table)
        _command.show_own(*own, console, json)
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
