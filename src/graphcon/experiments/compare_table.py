"""What `graphcon compare` prints and draws."""

import csv
import math
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from graphcon import _files
from graphcon._console import say, titled_table
from graphcon._processes import check_workers
from graphcon._words import shown
from graphcon.errors import InputError
from graphcon.experiments.compare import Cell, Row, plan, run_cells
from graphcon.report.figures import Panel, comparison_figure
from graphcon.training.commands import check_seeds
from graphcon.training.config import Recipe
from graphcon.training.loop import Reporter
from graphcon.training.metrics import direction, mean_and_sd
from graphcon.training.progress import BarReporter, show_warnings_plainly
from graphcon.training.run import check_one_device

#: What is told of every model and depth: the column, its title, and whether it is drawn on a logarithmic scale.
MEASURES = (
    ("test", "test", False),
    ("energy", "Dirichlet energy", True),
    ("effective_rank", "effective rank", False),
    ("seconds", "seconds of training", False),
    ("memory_mb", "MB of a training step", False),
)


def compare(
    recipe: Recipe,
    models: Sequence[str],
    depths: Sequence[int],
    seeds: int,
    workers: int,
    out: Path,
    console: Console,
) -> int:
    """Trains, prints, draws; returns the exit code."""
    show_warnings_plainly()
    check_seeds(seeds)
    check_one_device(recipe)
    cells = plan(recipe, models, depths, seeds)
    check_workers(workers, len(cells), "More --models, --depths or --seeds make several")
    done: dict[Cell, Row] = {}
    left_out = _left_out(out / "compare.csv", cells)
    with _progress(console, list(cells), recipe.trainer.epochs, workers) as make:
        try:
            for cell, row in run_cells(cells, out / "runs", make, workers):
                if row is None:
                    raise KeyboardInterrupt
                done[cell] = row
                if workers > 1:
                    console.print(f"{len(done)}/{len(cells)}  {_title(cell)}", highlight=False)
                write_csv([done[cell] for cell in cells if cell in done], out / "compare.csv")
        except KeyboardInterrupt:
            console.print("Stopped. Type the same command again to go on", highlight=False)
            return 130
    rows = [done[cell] for cell in cells]
    _print_table(rows, models, depths, console)
    _draw(rows, models, depths, out / "compare.png", recipe)
    diverged = [Cell(row.model, row.depth, row.seed).name for row in rows if math.isnan(row.energy)]
    if diverged:
        console.print(f"Diverged, and not in the means: {', '.join(diverged)}", highlight=False)
    say(console, f"Numbers  {out / 'compare.csv'}\nPicture  {out / 'compare.png'}")
    if left_out:
        console.print(
            f"No longer in them: {', '.join(left_out)}. Their runs are kept; the command that names them too has all",
            highlight=False,
        )
    if not diverged:
        say(console, f"Next graphcon report {shlex.quote(str(out / 'runs'))}")
    return 0


def _left_out(file: Path, cells: dict[Cell, Recipe]) -> list[str]:
    """The trainings that the table of an earlier comparison holds, and that of this one will not."""
    if not file.exists():
        return []
    try:
        with file.open(encoding="utf-8") as lines:
            before = [Cell(row["model"], int(row["depth"]), int(row["seed"])) for row in csv.DictReader(lines)]
    except (KeyError, TypeError, ValueError, csv.Error):
        raise InputError(
            f"{file}: is no table of a comparison, or damaged. Move it: the same command makes it again"
        ) from None
    return [cell.name for cell in before if cell not in cells]


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Writes a line per cell."""
    _files.write_csv(path, [field.name for field in fields(Row)], (astuple(row) for row in rows))


def mean_and_spread(rows: Sequence[Row], model: str, depth: int, measure: str) -> tuple[float, float]:
    """The mean and the standard deviation over the seeds; NaN where it was not measured."""
    values = [getattr(row, measure) for row in rows if (row.model, row.depth) == (model, depth)]
    if any(value is None for value in values):
        return math.nan, 0.0
    return mean_and_sd(values)[:2]


def _print_table(rows: list[Row], models: Sequence[str], depths: Sequence[int], console: Console) -> None:
    seeds = len({row.seed for row in rows})
    title = f"{rows[0].metric}, {direction(rows[0].metric)}; mean ± sd over seeds ({seeds}), selected on validation"
    table = titled_table(title, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("model", no_wrap=True)
    for name in ("layers", "validation", "test", "energy", "rank", "seconds", "MB"):
        table.add_column(name, justify="right", no_wrap=True)
    for model in models:
        for depth in depths:
            val, test, energy, rank, seconds, memory = (
                mean_and_spread(rows, model, depth, name) for name in ("val", *(measure[0] for measure in MEASURES))
            )
            figures = (f"{energy[0]:.1e}", f"{rank[0]:.1f}", f"{seconds[0]:.1f}", f"{memory[0]:.0f}")
            scores = (f"{shown(mean, 3)}±{shown(spread, 3)}" for mean, spread in (val, test))
            table.add_row(model if depth == depths[0] else "", str(depth), *scores, *figures)
    console.print(table)


def _draw(rows: list[Row], models: Sequence[str], depths: Sequence[int], path: Path, recipe: Recipe) -> None:
    panels = [
        Panel(
            f"{rows[0].metric} on test data" if name == "test" else title,
            log,
            {model: [mean_and_spread(rows, model, depth, name) for depth in depths] for model in models},
        )
        for name, title, log in MEASURES
    ]
    data = recipe.data.name or "own tables"
    comparison_figure(depths, panels, path, f"{data}: at most {recipe.trainer.epochs} epochs each")


@contextmanager
def _progress(console: Console, cells: list[Cell], epochs: int, workers: int) -> Iterator[Any]:
    """Yields what makes a reporter for every cell that is trained; without a terminal there is a line for each.

    Of several processes each cell is told when it is done.
    """

    def title(cell: Cell) -> str:
        return f"{cells.index(cell) + 1}/{len(cells)}  {_title(cell)}"

    if workers > 1:
        yield lambda cell: None
        return
    if not console.is_terminal:
        yield lambda cell: print(title(cell), flush=True)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(cells) * epochs)

        def bar(cell: Cell) -> Reporter:
            before = cells.index(cell) * epochs
            progress.update(task, description=title(cell), completed=before)
            return BarReporter(progress, task, before)

        yield bar


def _title(cell: Cell) -> str:
    return f"{cell.model} at depth {cell.depth}, seed {cell.seed}"
