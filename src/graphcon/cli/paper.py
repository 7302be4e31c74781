"""The commands about the paper: demo, reproduce."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from graphcon._words import did_you_mean
from graphcon.cli._app import app, check_folder, check_heard, console, words
from graphcon.errors import InputError


@app.command
def demo(
    out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path("runs/demo"),
    seed: int = 0,
    act: Literal["tanh", "relu", "gelu", "elu", "silu"] = "tanh",
    energy_only: bool = False,
) -> None:
    """Shows what depth does, on a grid with random weights and on Cora with trained ones.

    First it draws the paper's Dirichlet-energy figure, in seconds: 100 layers of GCN and GAT against GraphCON. Then it
    trains a GCN and a GraphCON-GCN on the packaged Cora, at depths 2 to 64, in one to three minutes.

    Example: graphcon demo

    Example: graphcon demo --out runs/demo --seed 1 --act relu --energy-only

    Args:
        out: Where the page, the figures and the numbers go.
        seed: Seed of the features, the weights and the split.
        act: The activation in the energy figure; the result depends much on it.
        energy_only: Draw the energy figure and train nothing.
    """
    check_folder(out, no_run=True)
    from graphcon.experiments import demo as showing

    showing.show(out, seed, act, energy_only, console)


@app.command
def reproduce(
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[NAME]")] = "",
    /,
    budget: Literal["smoke", "small", "paper"] = "small",
    out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path("results"),
    runs: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path("runs/reproduce"),
    workers: int = 1,
    only: str = "",
    at: str = "",
    data_root: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
) -> int:
    """Runs a table or a figure of the paper, and puts our results beside the paper's.

    Without a name it lists the tables and figures. To continue after a stop, type the same command again.

    Example: graphcon reproduce heterophilic --budget paper --workers 2

    Example: graphcon reproduce depth-cora --only depth-cora-gcn,depth-cora-plain-gcn --at "64 layers"

    Example: graphcon reproduce page

    Args:
        name: A table, a figure, or "page", which makes docs/results.md from all results kept so far.
        budget: How much to spend: smoke (to see that it works), small, or paper (its splits, with as many runs as two
            cores can do in days).
        out: Folder for the results: NAME.csv with every run, NAME.md, NAME.png.
        runs: Folder for the run folders.
        workers: How many processes train at a time.
        only: Only these recipes of the table, separated by commas.
        at: Only these columns of a table with several per data set, separated by commas, as the table names them.
        data_root: Folder to look for data in first.
    """
    from graphcon.experiments.reproduction_list import NAMES, show_names

    if not name:
        show_names(console)
        return 0
    if name not in NAMES:
        hint = did_you_mean(name, NAMES)
        raise InputError(f"{name}: is no table or figure to reproduce.{hint} There are: {', '.join(NAMES)}")
    from graphcon._processes import check_workers
    from graphcon.experiments.tables import TABLES

    if name not in TABLES:
        of_tables = {"--budget": budget, "--runs": runs, "--workers": workers, "--only": only, "--at": at}
        cure = "it trains nothing. Leave that out, or name a table"
        check_heard(reproduce, of_tables | {"--data-root": data_root}, f"graphcon reproduce {name}", cure)
    check_workers(workers)
    for folder in (out, runs):
        check_folder(folder)
    rows, columns = (words(option, text) if text else () for option, text in (("--only", only), ("--at", at)))
    from graphcon.experiments import show_reproduction

    return show_reproduction.show(name, budget, out, runs, workers, rows, columns, data_root, console)
