"""The work behind `graphcon reproduce`: run, tell, tabulate, draw."""

from operator import itemgetter
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as Grid
from rich.text import Text

from graphcon._console import say
from graphcon._files import write_whole
from graphcon.experiments import demo, molecule, results
from graphcon.experiments.page import write_page
from graphcon.experiments.reproduce import StoppedError, facts, reproduce
from graphcon.experiments.results import Cell, Place, Run
from graphcon.experiments.tables import (
    PICTURES,
    SENSITIVITY_ALPHA,
    SENSITIVITY_GAMMA,
    TABLES,
    Job,
    Table,
    paper_figure,
)
from graphcon.report.figures import (
    Bar,
    Sensitivity,
    lines_figure,
    map_figure,
    molecule_animation,
    molecule_figure,
    rows_figure,
    sensitivity_figure,
)
from graphcon.training.config import Recipe
from graphcon.training.loop import Reporter
from graphcon.training.progress import BarReporter, LineReporter

UNITS = {"accuracy": "accuracy in %", "f1": "micro-averaged F1 in %", "mae": "mean absolute error"}
EVERY = 4  # of so many states of a molecule one is a frame of its animation
GROWING = {"depth": "layers", "epochs": "epochs"}  # what a curve is drawn against, by the axis of the table


def show(
    name: str,
    budget: str,
    out: Path,
    runs: Path,
    workers: int,
    only: tuple[str, ...],
    at: tuple[str, ...],
    data_root: Path | None,
    console: Console,
) -> int:
    """Reproduces one table or figure, or makes the page of all; returns the exit code."""
    if name == "page":
        for table in TABLES.values():
            write_table(table, out)
        write_page(out, Path("docs/results.md"))
        console.print("Page  docs/results.md", highlight=False)
    elif name == "energy":
        demo.show_energy(out, 0, "tanh", console)
    elif name == "molecule":
        _show_molecule(out, console)
    else:
        try:
            _show_table(TABLES[name], budget, out, runs, workers, only, at, data_root, console)
        except (StoppedError, KeyboardInterrupt):
            console.print("Stopped. What is done is kept: type the same command again to go on.", highlight=False)
            return 130
    return 0


def _show_molecule(out: Path, console: Console) -> None:
    moved = molecule.trajectory()
    atoms = (moved.edge_index, moved.elements)
    picture = out / PICTURES["molecule"].file
    animation = picture.with_suffix(".gif")
    molecule_figure(moved.xs, *atoms, picture, "Trimethoprim in GraphCON-GCN with random weights", moved.dt)
    molecule_animation(moved.xs[::EVERY], *atoms, animation, "GraphCON-GCN", EVERY * moved.dt)
    say(console, f"Picture    {picture}\nAnimation  {animation}")


def _show_table(
    table: Table,
    budget: str,
    out: Path,
    runs: Path,
    workers: int,
    only: tuple[str, ...],
    at: tuple[str, ...],
    data_root: Path | None,
    console: Console,
) -> None:
    console.print(Text.assemble((table.title, "bold"), f", budget {budget}: {table.budgets[budget]}"))
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(table.name, total=None)
        epochs = progress.add_task("", total=None, visible=False)

        def reporter(job: Job) -> Reporter:
            what, total = f"{job.name} {job.variant}".strip(), job.recipe.trainer.epochs
            if not console.is_terminal:
                return LineReporter(what, total, one_of_many=True)
            progress.reset(epochs, description=f"  {what}, epochs", total=total, visible=True)
            return BarReporter(progress, epochs)

        found = reproduce(
            table.name, budget, out, runs, workers=workers, only=only, at=at, data_root=data_root, reporter=reporter
        )
        for done, of, run in found:
            progress.update(bar, completed=done, total=of)
            say(console, f"{done}/{of}  {_told(run, table)}")
    console.print(_grid(table, write_table(table, out)))
    say(console, f"Runs     {out / table.name}.csv\nTable    {out / table.name}.md")


def write_table(table: Table, out: Path) -> list[Run]:
    """The table and the figure of the runs that are kept, and the runs."""
    runs = results.load(out, table.name)
    if runs:
        spent = facts(out, table.name).get("spent", "")
        told = f"{table.title}: {spent}" if spent else table.title
        write_whole(out / f"{table.name}.md", f"{told}.\n\n{results.markdown(table, runs)}")
        draw(table, runs, out / f"{table.name}.png", told)
    return runs


def _told(run: Run, table: Table) -> str:
    digits = 4 if table.metric == "mae" else 2
    what = " ".join(filter(None, (run.dataset, run.model, run.variant)))
    return (
        f"{what}  split {run.split} seed {run.seed}  validation {run.val:.{digits}f}  test {run.test:.{digits}f}  "
        f"{run.seconds:.1f} s"
    )


def _grid(table: Table, runs: list[Run]) -> Grid:
    digits = table.digits
    grid = Grid(title=f"{UNITS[table.metric]}, on test data", title_justify="left", box=SIMPLE, padding=0)
    for column in ("data", "model", ""):
        grid.add_column(column, no_wrap=column != "")
    for column in ("ours", "n", "paper", "parameters", "seconds"):
        grid.add_column(column, justify="right", no_wrap=True)
    for place, cell in results.cells(table, runs).items():
        figure = paper_figure(table.name, place.dataset, place.model, place.point)
        spread = f" ± {cell.sd:.{digits}f}" if cell.n > 1 else ""
        ours = f"{cell.mean:.{digits}f}{spread}" if cell.n else "diverged"
        paper = "–" if figure is None else f"{figure[0]:.{digits}f}"
        label = ", ".join(filter(None, (place.variant, place.point)))
        parameters = f"{cell.parameters:,}" if cell.parameters else "–"
        grid.add_row(place.dataset, place.model, label, ours, str(cell.n), paper, parameters, f"{cell.seconds:.0f}")
    return grid


def draw(table: Table, runs: list[Run], path: Path, title: str) -> None:
    """The figure of a table: rows with their spread, curves against depth, epochs or a coefficient, or a map of two."""
    found = {place: cell for place, cell in results.cells(table, runs).items() if cell.n}
    if not found:  # all diverged
        return
    label = UNITS[table.metric]
    if table.axis in GROWING:
        curves: dict[str, list[tuple[int, Bar]]] = {}
        plain = {place.model for place in found if not place.variant}
        for place, cell in found.items():
            number, bar = int(place.point.split(" ")[0]), _bar(table, place, cell)
            if place.variant and place.model in plain:  # the paper's curve is drawn once
                bar = bar._replace(paper=None)
            curves.setdefault(place.row, []).append((number, bar))
        lines_figure(curves, path, title, label, GROWING[table.axis])
    elif table.axis == "line":
        sensitivity_figure(sensitivity_lines(found), path, title, f"test {label}")
    elif table.axis == "map":
        every = results.cells(table, runs)
        values = {place.coefficients: cell.mean for place, cell in every.items()}
        map_figure(values, _time_step(runs), path, title, label)
    else:
        groups: dict[str, dict[str, Bar]] = {}
        for place, cell in found.items():
            groups.setdefault(place.dataset, {})[place.row] = _bar(table, place, cell)
        names = sorted({place.row for place in found}, key=_family)
        rows_figure(groups, names, path, title, label)


def sensitivity_lines(found: dict[Place, Cell]) -> list[Sensitivity]:
    """The paper's two lines of every row: alpha at gamma = 0.76, and gamma at alpha = 1."""
    lines: dict[tuple[str, str, str], dict[float, Cell]] = {}
    for place, cell in found.items():
        alpha, gamma = place.coefficients
        if gamma == SENSITIVITY_GAMMA:
            lines.setdefault(("α", f"γ = {SENSITIVITY_GAMMA:g}", place.row), {})[alpha] = cell
        if alpha == SENSITIVITY_ALPHA:
            lines.setdefault(("γ", f"α = {SENSITIVITY_ALPHA:g}", place.row), {})[gamma] = cell
    found_lines = []
    for (name, fixed, row), line in lines.items():
        values, there = zip(*sorted(line.items(), key=itemgetter(0)), strict=True)
        found_lines.append(Sensitivity(name, fixed, values, [c.mean for c in there], [c.sd for c in there], row))
    return found_lines


def _time_step(runs: list[Run]) -> float:
    return float(runs[0].settings.get("model.dt", Recipe().model.dt))


def _family(row: str) -> tuple[str, bool, str]:
    """An oscillator stands below the layer it is made of."""
    return (row.removeprefix("graphcon-").partition(" ")[0], row.startswith("graphcon-"), row)


def _bar(table: Table, place: Place, cell: Cell) -> Bar:
    figure = paper_figure(table.name, place.dataset, place.model, place.point)
    return Bar(cell.mean, cell.sd, cell.n, None if figure is None else figure[0])
