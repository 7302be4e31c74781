"""The command line: parse, call, print. What the commands do lives in the other rooms."""

import errno
import io
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.table import Table
from rich.text import Text

from graphcon import __version__
from graphcon._console import make_console, say
from graphcon._files import cache_folder
from graphcon._words import did_you_mean
from graphcon.data._options import DEFAULT_OPTIONS, TableOptions
from graphcon.errors import InputError, LossError, ProcessError
from graphcon.training import arguments
from graphcon.training.config import DataConfig, Metric, Recipe
from graphcon.training.interrupt import heed_sigterm

ABOUT = "Deep graph networks of coupled oscillators."
#: The commands in the order in which one meets them.
WORKFLOW = {
    "See what it is about": {
        "demo": "see what depth does to a plain network and to oscillators, in minutes",
        "reproduce": "run the paper's tables and figures, beside the paper's numbers",
    },
    "Train and use": {
        "data": "list the data sets, or check your own tables",
        "train": "train a recipe or your own tables; continue after any stop",
        "evaluate": "measure a run on held-out data or on new tables",
        "predict": "write labels with probabilities, or values, for new tables",
        "export": "write a program that runs with PyTorch alone",
    },
    "Look inside": {
        "report": "write a page about runs, to open in a browser",
        "diagnose": "measure energy, distance, rank and gradient at every step",
    },
    "Choose": {
        "models": "list all models, ours and the rivals",
        "recipes": "list all recipes, one for every row of the paper's tables",
        "compare": "train several models at several depths, at equal budget",
        "tune": "search for better settings, on validation data",
    },
    "This machine": {
        "bench": "measure speed and memory beside PyG's",
        "completion": "let the Tab key complete commands and options",
    },
}

#: So often a waiting thread looks whether there is work before it sleeps. GNU OpenMP's own 300,000 hold a core that
#: others want: beside one busy process, on two cores, they make every step tens of times slower.
SPINS = "10000"

#: What cures a place that cannot be written, by what the system says of it.
GOES_ON = "Then type the same command again; a single training continues with: graphcon train --resume RUN"
UNWRITABLE = {
    errno.EACCES: "Name a place that you may write to",
    errno.EPERM: "Name a place that you may write to",
    errno.EROFS: "Name a place that can be written",
    errno.ENAMETOOLONG: "Name a shorter one",
    errno.ENOSPC: f"Make room. {GOES_ON}",
    errno.EDQUOT: f"Make room. {GOES_ON}",
    errno.EFBIG: "Raise the limit on the size of files",
    errno.EEXIST: "A folder is needed there: name another place",
    errno.ENOTDIR: "A folder is needed there: name another place",
    errno.EISDIR: "A file is needed there: name another place, or move the folder",
    errno.EIO: f"Check the disk for faults. {GOES_ON}",
}

app = tyro.extras.SubcommandApp()
console = make_console()


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
    _check_folder(out, no_run=True)
    from graphcon.experiments import demo as showing

    showing.show(out, seed, act, energy_only, console)


@app.command
def bench(
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("bench.json"),
    quick: bool = False,
    threads: int | None = None,
) -> None:
    """Times training steps beside PyG's, in turn and in one process.

    How to read the table: `over loop` is how many times faster GraphCON is than the oscillator written by hand around
    the same PyG layer. `over csr` compares with that loop on PyG's sorted EdgeIndex, and for GCN with cached
    normalisation. `of floor` is the time as a multiple of the bare matrix products, which cannot be beaten. Times are
    the best of several rounds, ± how far the median lies above it. MB is how much the process grows during the step.
    Run it on an idle machine: with other work beside it the figures mean little.

    Example: graphcon bench --quick

    Args:
        out: JSON file for everything measured; the table goes beside it, as Markdown.
        quick: Fewer rounds, no largest graph and fewer steps on ppi: under two minutes.
        threads: Number of threads; as many as torch takes by default.
    """
    if out.is_dir():
        raise InputError(f"--out {out}: is a folder, but a file is needed. Name a file in it, {out / 'bench.json'}")
    _check_folder(out.parent)
    from graphcon.experiments.bench_table import show

    out.parent.mkdir(parents=True, exist_ok=True)
    show(out, quick, threads, console)


def _check_folder(out: Path, no_run: bool = False) -> None:
    if no_run and (out / "recipe.toml").exists():
        raise InputError(f"--out {out}: holds a run, whose files would be replaced; name another folder")
    for path in (out, *out.parents):
        if path.exists() and not path.is_dir():
            raise InputError(f"--out {out}: {path} is a file, but a folder is needed; name another place")


def _check_tables(nodes: Path | None, edges: Path | None, graphs: Path | None, options: TableOptions) -> None:
    """Tells of a mistake in own tables at once: PyTorch takes seconds to load, and is not needed to see it.

    The price is that tables without one are read twice.
    """
    if nodes is not None or edges is not None or graphs is not None:
        from graphcon.data.tables.opened import open_tables

        open_tables(nodes, edges, graphs, options)


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
    table = replace(table, seed=seed)
    if not what:
        _check_tables(nodes, edges, graphs, table)
    from graphcon.data import _command

    if what[:1] == ("build",):
        _command.build(what[1:], data_root, out, adjacency, workers, limit, console)
    elif len(what) > 1:
        raise InputError(f"graphcon data {' '.join(what)}: takes one name, or 'build' and a name.")
    elif what and not what[0].endswith((".npz", ".graphml")) and nodes is None:
        _command.show_set(what[0], data_root, protocol, table, fetch, console, json)
    elif what or nodes is not None or edges is not None or graphs is not None:
        from graphcon.data import open_data

        own = open_data(*what, nodes=nodes, edges=edges, graphs=graphs, protocol=protocol, options=table)
        _command.show_own(*own, console, json)
    else:
        _command.list_all(data_root, console, json)


def _check_run(run: Path) -> None:
    from graphcon.training import recipes

    recipes.of_run(run)


def _check_data(config: DataConfig) -> None:
    if config.name is None:
        _check_tables(config.nodes, config.edges, config.graphs, config.table)


def _training_commands(default: Recipe) -> None:
    """Registers the commands whose options have the values of the recipe that is named."""

    @app.command
    def train(
        recipe: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[RECIPE]")] = "",
        /,
        config: Annotated[Recipe, tyro.conf.arg(name="")] = default,
        out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
        resume: Annotated[Path | None, tyro.conf.arg(metavar="RUN")] = None,
        split: str | None = None,
        seeds: int = 1,
        workers: int = 1,
        print_recipe: bool = False,
    ) -> int:
        """Trains a recipe, or your own tables, and keeps everything in a run folder.

        Example: graphcon train texas-gcn --model.steps 8 --trainer.epochs 50

        Example: graphcon train my.toml --split all --seeds 5 --workers 4

        Example: graphcon train --nodes nodes.csv --edges edges.csv --target label

        Example: graphcon train --resume runs/texas-gcn --trainer.epochs 500

        Args:
            recipe: A packaged recipe (see: graphcon recipes) or a .toml file.
            config: The recipe, field by field.
            out: The run folder; by default runs/RECIPE.
            resume: A run to continue with its own settings; you may change epochs, devices, threads and the like.
            split: Which split; several as 0,1,2, or "all" for every fixed split.
            seeds: How many seeds, counting from --seed.
            workers: How many of several runs to train at a time, each in its own process.
            print_recipe: Print the resolved recipe and do nothing else.
        """
        from graphcon.training import recipes

        if print_recipe:
            from graphcon.training.equation import equation

            head = f"# Equation: {equation(config)}\n" if config.model.name.startswith("graphcon-") else ""
            print(head + recipes.to_toml(config), end="")
            return 0
        if resume is not None:
            from graphcon.training.resume import check_resumed

            given = {"RECIPE": recipe, "--out": out, "--split": split, "--seeds": seeds != 1, "--workers": workers != 1}
            check_resumed(resume, config, [option for option, value in given.items() if value])
        _check_data(config.data)
        from graphcon.training import commands

        name = Path(recipe or config.data.name or "run").stem  # the data may be a file anywhere
        return commands.train(config, name, out, resume, arguments.splits(split, config), seeds, workers, console)

    @app.command
    def compare(
        recipe: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[RECIPE]")] = "",
        /,
        config: Annotated[Recipe, tyro.conf.arg(name="")] = default,
        models: Annotated[str, tyro.conf.arg(metavar="A,B,C")] = arguments.COMPARED,
        depths: Annotated[str, tyro.conf.arg(metavar="2,8,32")] = "2,8,32",
        seeds: int = 3,
        workers: int = 1,
        out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
    ) -> int:
        """Trains several models at several depths alike, and shows what depth does to each.

        All use the data, the optimiser and the epochs of the recipe; a model ignores settings that it does not have.
        Weights are selected on validation; test data are read once per training. The table shows the metric, the
        Dirichlet energy and effective rank of the last state, the seconds, and the memory of a training step. To
        continue a comparison that was stopped, type the same command again.

        Example: graphcon compare --data cora --models gcn,gcnii,graphcon-gcn --depths 2,8,32 --seeds 5

        Example: graphcon compare my.toml --models gat,graphcon-gat --trainer.epochs 100

        Example: graphcon compare --nodes nodes.csv --edges edges.csv --target label --models mlp,gcn,graphcon-gcn

        Args:
            recipe: A packaged recipe or a .toml file, for everything but the model and its depth.
            config: The recipe, field by field.
            models: The models, by name (see: graphcon models).
            depths: The depths, in layers.
            seeds: How many seeds, counting from --seed.
            workers: How many to train at a time; the seconds are then measured beside other trainings.
            out: Folder for the runs, compare.csv and compare.png; by default runs/compare-DATA.
        """
        name = Path(recipe or config.data.name or "own").stem
        place = out or Path("runs") / f"compare-{name}"
        _check_folder(place, no_run=True)
        _check_data(config.data)
        from graphcon.experiments import compare_table

        return compare_table.compare(config, models, depths, seeds, workers, place, console)

    @app.command
    def tune(
        recipe: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[RECIPE]")] = "",
        /,
        config: Annotated[Recipe, tyro.conf.arg(name="")] = default,
        out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
        trials: int = 50,
        split: str | None = None,
        seeds: int = 1,
        metric: Metric | None = None,
        finalists: int = 1,
        workers: int = 1,
    ) -> None:
        """Searches the settings in a recipe's [search] table, on validation data only.

        Without such a table it searches depth, width, dropout, learning rate, decay and, for oscillators, dt, alpha
        and gamma. The first trial has the recipe's own settings, as far as the search includes them. To continue a
        search that was stopped, type the same command again: it makes the trials it would have made.

        Example: graphcon tune texas-gcn --trials 100 --split all --workers 4

        Example: graphcon tune citeseer-gcn --split 0,1,2 --finalists 3

        Example: graphcon tune --nodes nodes.csv --edges edges.csv --target label --trials 30

        Example: graphcon tune my.toml --out runs/search

        Args:
            recipe: A packaged recipe or a .toml file.
            config: The recipe, field by field.
            out: The folder of the study; by default runs/tune-RECIPE.
            trials: How many trials in all, those already made included.
            split: Which split; with several, as 0,1,2 or "all", the mean counts.
            seeds: How many seeds on every split, counting from --seed; with several, the mean counts.
            metric: The metric that ranks trials; by default --trainer.metric, which selects the epoch within each.
            finalists: How many of the best trials to train again, with three other seeds on every split; the best of
                these wins. The best of many trials was also lucky, and this corrects for it.
            workers: How many trials to train at a time; trials that run together cannot learn from each other.
        """
        name = Path(recipe or config.data.name or "own").stem
        place = out or Path("runs") / f"tune-{name}"
        _check_folder(place)
        _check_data(config.data)
        from graphcon.training import commands

        chosen = arguments.splits(split, config)
        commands.tune(config, place, trials, chosen, seeds, metric, finalists, workers, console)


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
    _check_run(run)
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
    _check_run(run)
    from graphcon.training import commands

    commands.predict(run, nodes, edges, graphs, out, console)


@app.command
def diagnose(
    run: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[RUN]")] = None,
    /,
    compare: Annotated[str, tyro.conf.arg(metavar="MODELS")] = "",
    depths: str = "2,4,8,16,32,64,128",
    data: Annotated[str, tyro.conf.arg(metavar="NAME")] = "cora",
    data_root: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
    channels: int = 32,
    train: bool = False,
    epochs: int = 60,
    seed: int = 0,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
) -> None:
    """Measures energy, distance, rank and gradient at every step: of a run, or of models side by side.

    Example: graphcon diagnose runs/texas-gcn

    Example: graphcon diagnose --compare gcn,gat,graphcon-gcn --depths 2,8,32,128

    Example: graphcon diagnose --compare gcn,graphcon-gcn --depths 16 --data texas --train

    Args:
        run: A run folder.
        compare: Models to put side by side instead of a run, separated by commas.
        depths: Their depths, separated by commas.
        data: The named set they are measured on.
        data_root: Folder to look for it in first.
        channels: Their width.
        train: Train them; otherwise they keep their random weights.
        epochs: The most epochs to train for.
        seed: Seed of the split and of the weights.
        out: Folder for numbers and figures; by default the run folder or runs/diagnose.
    """
    if (run is None) == (not compare):
        raise InputError(
            "graphcon diagnose: name a run folder, or --compare and models separated by commas, as in gcn,graphcon-gcn"
        )
    if out is not None:
        _check_folder(out)
    if run is not None:
        _check_run(run)
    from graphcon.experiments import diagnose as diagnosing

    if run is not None:
        diagnosing.diagnose_run(run, out, console)
        return
    names = tuple(name.strip() for name in compare.split(",") if name.strip())
    recipe = diagnosing.recipe_for(data, data_root, channels, epochs, seed)
    diagnosing.diagnose_models(recipe, names, _whole("--depths", depths), train, out or Path("runs/diagnose"), console)


def _whole(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"{option} {text}: must be whole numbers from 1 up, separated by commas, as in 2,8,32")
    return tuple(int(part) for part in parts)


@app.command
def report(
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN [RUN ...]")],
    /,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
) -> None:
    """Writes one page about a run, or comparing several. It opens in any browser, without a network.

    Example: graphcon report runs/texas-gcn

    Example: graphcon report runs/gcn runs/graphcon-gcn --out compared.html

    Args:
        runs: Run folders; a folder of several runs stands for all of them.
        out: The page; by default report.html in the first folder.
    """
    for run in runs:
        if not any(run.glob("*/recipe.toml")):
            _check_run(run)
    from graphcon.report import commands

    commands.write_report(runs, out, console)


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
    _check_run(run)
    from graphcon.training import commands

    commands.export(run, out, console)


@app.command
def models(
    name: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[NAME]")] = None,
    /,
    json: bool = False,
) -> None:
    """Lists all models, ours and the rivals, or shows one: its paper, its options, what it uses.

    Example: graphcon models

    Example: graphcon models gcnii --json

    Args:
        name: A model to show; nothing for the list.
        json: Print JSON.
    """
    from graphcon.experiments import model_list

    model_list.show(name, console, json)


@app.command
def recipes(
    part: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[PART]")] = "", /, json: bool = False
) -> None:
    """Lists the recipes that come with the package: one for every row of the paper's tables.

    Example: graphcon recipes texas

    Args:
        part: Only those with this in their names.
        json: Print JSON.
    """
    from graphcon.training.recipe_list import list_recipes

    list_recipes(part, console, json)


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

    check_workers(workers)
    for folder in (out, runs):
        _check_folder(folder)
    rows, columns = (tuple(filter(None, map(str.strip, chosen.split(",")))) for chosen in (only, at))
    from graphcon.experiments import show_reproduction

    return show_reproduction.show(name, budget, out, runs, workers, rows, columns, data_root, console)


@app.command
def completion(
    shell: Annotated[Literal["bash", "zsh", "tcsh"], tyro.conf.Positional, tyro.conf.arg(metavar="SHELL")], /
) -> None:
    """Prints a script with which the Tab key completes commands and options in your shell.

    Example: graphcon completion bash > ~/.local/share/bash-completion/completions/graphcon

    Example: graphcon completion zsh > ~/.zfunc/_graphcon

    Args:
        shell: bash, zsh or tcsh.
    """
    app.cli(prog="graphcon", args=["--tyro-print-completion", shell])


def _overview() -> None:
    """The commands, a line each."""
    console.print(Text.assemble(("graphcon", "bold"), f" {__version__}: {ABOUT}\n"))
    table = Table(box=None, show_header=False, pad_edge=False)
    for title, commands in WORKFLOW.items():
        table.add_row(Text(title, "bold"), "")
        for name, does in commands.items():
            table.add_row(f"  {name}", does)
    console.print(table)
    say(
        console,
        "\nOptions and examples of a command: graphcon COMMAND --help\n"
        "Your own tables: graphcon train --nodes nodes.csv --edges edges.csv --target label",
    )


def _leave_cores_to_others() -> None:
    """Lets a thread that waits give up its core sooner, unless the user has said how threads wait.

    It is OpenMP's, and read when PyTorch is loaded, which no command has done by now.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)


def _print_anywhere() -> None:
    """Lets signs that a terminal does not know stand there by their numbers, in place of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Told(logging.Handler):
    """What the package logs, as that a large table is being read, beside the answers."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"graphcon: {record.getMessage()}", file=sys.stderr, flush=True)


def _tell_what_takes_long() -> None:
    logger = logging.getLogger("graphcon")
    if not logger.handlers:
        logger.addHandler(_Told())
        logger.setLevel(logging.INFO)


def main(argv: list[str] | None = None) -> int:
    """Runs one command; returns 0 done, 1 a failure inside, 2 bad input or usage, 130 interrupted, 141 unread."""
    argv = sys.argv[1:] if argv is None else argv
    _leave_cores_to_others()
    _tell_what_takes_long()
    _print_anywhere()
    heed_sigterm()
    if argv == ["--version"]:
        print(f"graphcon {__version__}")
        return 0
    try:
        recipe, argv = arguments.read_recipe(argv)
        _training_commands(recipe)
        if argv in ([], ["-h"], ["--help"]):
            _overview()
            return 0
        code = app.cli(prog="graphcon", description=ABOUT, args=argv)
        return code if isinstance(code, int) else 0
    except InputError as error:
        print(f"graphcon: {error}", file=sys.stderr)
        return 2
    except (LossError, ProcessError) as error:
        print(f"graphcon: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("graphcon: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read the output has gone, as `head` does; what is left of it goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        print(f"graphcon: {error.filename or 'output'}: {error.strerror}. {_cure(error)}", file=sys.stderr)
        return 2


def _cure(error: OSError) -> str:
    """What helps where a file cannot be written; where the cache lies is not what an option says."""
    cache = cache_folder()
    if error.filename and (cache.is_relative_to(error.filename) or Path(error.filename).is_relative_to(cache)):
        return "Set GRAPHCON_CACHE to a folder that you may write to"
    return UNWRITABLE[error.errno or 0]


if __name__ == "__main__":
    sys.exit(main())
