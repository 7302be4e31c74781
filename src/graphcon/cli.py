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


@app.command
def bench(
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("bench.json"),
    quick: bool = False,
    threads: int | None = None,
) -> None:
    """Times training steps beside PyG's, in turn and in one process.

    How to read the table: `over loop` is how many times faster GraphCON is than the oscillator written by hand around
    the same PyG layer; `over csr` the same with PyG's sorted EdgeIndex, and for GCN its cached normalisation;
    `of floor` is the time as a multiple of the bare matrix products, which cannot be beaten. Times are the best of
    several rounds, ± how far the median lies above it. MB is by how much the process grows during the step. While the
    machine is busy with other things the figures mean little.

    Example: graphcon bench --quick

    Args:
        out: Where everything measured goes, as JSON.
        quick: Less of everything, without the largest graph: under two minutes.
        threads: Number of threads. (default: as many as torch takes)
    """
    import json

    import torch

    from graphcon.experiments import bench as benchmark

    if threads is not None:
        torch.set_num_threads(threads)
    found = list(_progress(benchmark.rows(quick), benchmark.number_of_rows(quick), "Measuring"))
    table = Table(title=f"Training steps, {torch.get_num_threads()} threads", title_justify="left", box=SIMPLE)
    table.add_column("workload")
    for name in ("ms", "over loop", "over csr", "of floor", "MB", "MB loop"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found:
        ours, loop, floor = row.ways["graphcon"], row.ways["loop"], row.ways["floor"]
        over_csr = row.speedup("csr")
        table.add_row(
            f"{row.workload.name} {row.coupling}",
            f"{ours.best * 1e3:.1f} ±{ours.spread:.0%}",
            f"{row.speedup():.2f}× ±{loop.spread:.0%}",
            "-" if over_csr is None else f"{over_csr:.2f}×",
            f"{ours.best / floor.best:.2f}×",
            *("-" if way.peak_bytes is None else f"{way.peak_bytes / 1e6:.0f}" for way in (ours, loop)),
        )
    console.print(table)
    for name, values in benchmark.summary(found).items():
        console.print(
            f"{name}: {values['geometric_mean']:.2f} × over the loop (geometric mean), at least {values['least']:.2f} ×"
            ", "
            f"and at most {values['most_over_floor']:.2f} × the floor on zinc, superpixel and ppi",
            highlight=False,
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(benchmark.as_json(found), indent=1) + "\n")
    console.print(f"Numbers  {out}", highlight=False)


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
