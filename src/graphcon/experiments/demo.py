"""The work behind `graphcon demo`: two experiments, each with a table and a figure."""

from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from graphcon._console import say, titled_table
from graphcon._files import write_csv
from graphcon.experiments import depth, energy
from graphcon.experiments.demo_page import demo_page
from graphcon.experiments.tables import PICTURES
from graphcon.report.figures import Band, depth_figure, energy_figure
from graphcon.report.render import write
from graphcon.training.loop import Reporter
from graphcon.training.progress import reporting

SHOWN = (1, 10, energy.LAYERS)
SHORT = {"gcn": "GCN", "graphcon-gcn": "GraphCON"}


def show(out: Path, seed: int, act: str, energy_only: bool, console: Console) -> None:
    """Both experiments, and the page about them."""
    groups = show_energy(out, seed, act, console)
    rows = [] if energy_only else show_depth(out, seed, console)
    write(demo_page(groups, rows, seed, act), out / "report.html")
    say(
        console,
        f"Page     {out / 'report.html'}\n\nNext\n"
        "  graphcon train cora-gcn                                   a run of your own\n"
        "  graphcon train --nodes N.csv --edges E.csv --target COL   your own tables\n"
        "  graphcon recipes                                          what else there is",
    )


def show_energy(out: Path, seed: int, act: str, console: Console) -> dict[str, dict[str, Band]]:
    """Random weights: how different neighbours are after every layer."""
    steps = track(
        energy.curves(seed, act),
        "Propagating",
        total=energy.number_of_curves(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    groups: dict[str, dict[str, Band]] = {}
    title = f"Dirichlet energy of neighbours, median of {energy.DRAWS} draws"
    table = _table(title, "network", *(f"layer {n}" for n in SHOWN))
    for curve in steps:
        band = Band(*curve.band.tolist())
        groups.setdefault(curve.coupling, {})[curve.name] = band
        table.add_row(curve.name, *(f"{band.median[n - 1]:.1e}" for n in SHOWN))
    picture = out / PICTURES["energy"].file
    numbers = picture.with_suffix(".csv")
    drawn = f"{energy.LAYERS} layers with random weights on a 10×10 grid: median of {energy.DRAWS} draws, 10 to 90 %"
    energy_figure(groups, picture, drawn)
    bands = {name: band for group in groups.values() for name, band in group.items()}
    rows = ((n, name, *values) for name, band in bands.items() for n, values in enumerate(zip(*band, strict=True), 1))
    write_csv(numbers, ["layer", "network", *Band._fields], rows)
    console.print(table)
    say(console, f"Picture  {picture}\nNumbers  {numbers}")
    return groups


def show_depth(out: Path, seed: int, console: Console) -> list[depth.Row]:
    """Trained weights: accuracy on Cora at growing depth."""
    width = max(map(len, SHORT.values()))
    with reporting(console) as make:

        def bar(model: str, layers: int) -> Reporter:
            return make(f"{SHORT[model]:<{width}} {layers:>2} layers", depth.RECIPE.trainer.epochs)

        rows = list(depth.run(seed, reporter=bar))
    parts = [f"{SHORT[name]} {what}" for what in ("accuracy", "energy", "seconds") for name in depth.MODELS]
    table = _table("Trained on Cora: accuracy on test data, energy of the last state, seconds", "layers", *parts)
    for layers in depth.DEPTHS:
        pair = [row for row in rows if row.depth == layers]
        table.add_row(
            str(layers),
            *(f"{100 * row.accuracy:.1f} %" for row in pair),
            *(f"{row.energy:.1e}" for row in pair),
            *(f"{row.seconds:.1f}" for row in pair),
        )
    picture, numbers = out / "depth.png", out / "depth.csv"
    curves = {name: [row.accuracy for row in rows if row.model == name] for name in depth.MODELS}
    depth_figure(list(depth.DEPTHS), curves, picture, "Test accuracy on Cora after training")
    write_csv(numbers, list(depth.Row._fields), rows)
    console.print(table)
    say(console, f"Picture  {picture}\nNumbers  {numbers}")
    return rows


def _table(title: str, first: str, *others: str) -> Table:
    table = titled_table(title)
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table
