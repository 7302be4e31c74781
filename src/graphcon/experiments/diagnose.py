"""The work behind `graphcon diagnose`: a run from the inside, or several models side by side."""

import math
from dataclasses import replace
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

from graphcon._console import say, titled_table
from graphcon._files import write_whole
from graphcon._ranges import check_ranges
from graphcon.experiments.inside import Inside, look_inside
from graphcon.oscillator import GraphCON
from graphcon.report.figures import stability_map, states_figure
from graphcon.report.inside import table_of
from graphcon.training import run
from graphcon.training.config import DataConfig, ModelConfig, OptimizerConfig, Recipe, TrainerConfig
from graphcon.training.load_data import load_dataset
from graphcon.training.progress import reporting, show_warnings_plainly

#: The columns a terminal shows.
SHOWN = ("energy", "energy_relative_by_degree", "mad", "effective_rank", "state_gradient")
HEADINGS = ("energy", "relative by degree", "MAD", "effective rank", "state gradient")


def recipe_for(data: str, root: Path | None, channels: int, epochs: int, seed: int) -> Recipe:
    """The recipe by which models are put side by side: the same for all of them.

    Raises:
        InputError: A number is out of its range.
    """
    recipe = Recipe(
        data=DataConfig(name=data, root=root, split=seed),
        model=ModelConfig(channels=channels),
        optimizer=OptimizerConfig(lr=0.01, weight_decay=5e-4),
        trainer=TrainerConfig(epochs=epochs, patience=max(epochs // 2, 1)),
        seed=seed,
    )
    check_ranges(recipe)
    return recipe


def diagnose_run(path: Path, out: Path | None, console: Console) -> None:
    """Measures every state of a run's model, and draws what it found."""
    trained = run.load(path)
    dataset = trained.dataset()
    table = table_of(trained.model, dataset, trained.spec, trained.recipe)
    out = out or path
    numbers, picture = _write(table, out / "diagnostics.csv"), out / "diagnostics.png"
    name = f"{trained.recipe.model.name} on {dataset.name}"
    states_figure({trained.recipe.model.name: table}, picture, f"{name}, after training")
    console.print(_some_steps(table, name))
    say(console, f"Numbers  {numbers}\nPicture  {picture}")
    core = trained.model.net.core
    if isinstance(core, GraphCON):
        drawn = out / "stability.png"
        start = trained.recipe.model
        exact = core.integrator.name != "imex"
        stability_map({start.name: (start.dt, start.alpha, start.gamma)}, drawn, exact=exact)
        say(console, f"Map      {drawn}\n{start.name} is {core.stability}")


def diagnose_models(
    recipe: Recipe, models: tuple[str, ...], depths: tuple[int, ...], train: bool, out: Path, console: Console
) -> None:
    """Puts models side by side at every depth, and draws what is inside."""
    show_warnings_plainly()
    found: list[Inside] = []
    dataset, _ = load_dataset(recipe.data)
    with reporting(console) as make:
        for depth in depths:
            for model in models:
                bar = make(f"{model} {depth}", recipe.trainer.epochs) if train else None
                one = replace(recipe, model=replace(recipe.model, name=model, steps=depth))
                found.append(look_inside(one, dataset, train, bar))
    everything = pl.concat([inside.labelled() for inside in found], how="diagonal")
    numbers, steps, ends = _write(everything, out / "diagnostics.csv"), out / "steps.png", out / "depths.png"
    weights = "after training" if train else "with random weights"
    title = f"The last state {weights} on {recipe.data.name}, and the gradient that reaches the first"
    deepest = {inside.model: inside.table for inside in found if inside.depth == max(depths)}
    states_figure(deepest, steps, f"{max(depths)} layers {weights} on {recipe.data.name}, step by step")
    console.print(_last_states(found, title))
    say(console, f"Numbers  {numbers}\nPicture  {steps}")
    if len(depths) > 1:
        states_figure(_by_depth(found), ends, title, against="depth")
        say(console, f"Picture  {ends}")


def _by_depth(found: list[Inside]) -> dict[str, pl.DataFrame]:
    """Per model what a depth leads to: the last state, and the gradients that reach the first."""
    tables: dict[str, list[pl.DataFrame]] = {}
    for inside in found:
        first = inside.labelled().select("state_gradient").head(1)
        weight = inside.table.select(pl.col("weight_gradient").drop_nulls().first())
        last = inside.labelled().tail(1).drop("state_gradient", "weight_gradient")
        tables.setdefault(inside.model, []).append(pl.concat([last, first, weight], how="horizontal"))
    return {model: pl.concat(rows) for model, rows in tables.items()}


def _last_states(found: list[Inside], title: str) -> Table:
    table = _table(title, "model", "layers", *HEADINGS)
    for model, rows in _by_depth(found).items():
        for row in rows.iter_rows(named=True):
            table.add_row(model, str(row["depth"]), *(_number(row[name]) for name in SHOWN))
    return table


def _some_steps(table: pl.DataFrame, title: str) -> Table:
    shown = _table(title, "step", *HEADINGS)
    last = len(table) - 1
    for step in sorted({0, last, *(2**k for k in range(int(math.log2(max(last, 1))) + 1))}):
        row = table.row(step, named=True)
        shown.add_row(str(step), *(_number(row[name]) for name in SHOWN))
    return shown


def _table(title: str, *columns: str) -> Table:
    table = titled_table(title)
    for i, name in enumerate(columns):
        widest = max(map(len, name.split()), default=0)  # a heading is broken between words, not within
        table.add_column(name, justify="right" if i else "left", no_wrap=not i, min_width=widest)
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _write(table: pl.DataFrame, path: Path) -> Path:
    write_whole(path, table.write_csv())
    return path
