"""The runs of a table as a CSV file, and what they say: mean, spread, interval, beside the paper's figure."""

import csv
import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from graphcon._files import write_csv
from graphcon.errors import InputError
from graphcon.experiments.tables import SENSITIVITY_ALPHA, SENSITIVITY_GAMMA, Job, Table, paper_figure
from graphcon.stability import analyse
from graphcon.training import recipes
from graphcon.training.config import Recipe

COLUMNS = ("dataset", "model", "variant", "split", "seed", "val", "test", "seconds", "parameters", "recipe")


class Run(NamedTuple):
    """A line of the CSV file; shares in percent. Of a run that diverged the number of parameters is not known: 0."""

    dataset: str
    model: str
    variant: str
    split: int
    seed: int
    val: float
    test: float
    seconds: float
    parameters: int
    recipe: str

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from every other run of its table."""
        return (self.dataset, self.model, self.variant, str(self.split), str(self.seed))

    @property
    def settings(self) -> dict[str, str]:
        """Every setting of its recipe that is not the default."""
        return dict(part.split("=", 1) for part in self.recipe.split(" ") if "=" in part)


def settings(job: Job) -> str:
    """A recipe in a line: its name, and every setting that is not the default."""
    plain, default = recipes.flat(job.recipe), recipes.flat(Recipe())
    left_out = ("data.split", "data.root", "seed", "trainer.threads")
    told = (f"{key}={value}" for key, value in plain.items() if value != default.get(key) and key not in left_out)
    return " ".join((job.name, *told))


def write(path: Path, runs: Iterable[Run]) -> None:
    """Writes the runs, whole or not at all."""
    lines = ([*run[:5], f"{run.val:.4f}", f"{run.test:.4f}", f"{run.seconds:.1f}", *run[8:]] for run in runs)
    write_csv(path, COLUMNS, lines)


def read(path: Path) -> list[Run]:
    """The runs in a file; none where there is no file.

    Raises:
        InputError: It has other columns, or a line is damaged.
    """
    if not path.exists():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read ({error}). Move it") from None
    if lines and tuple(lines[0]) != COLUMNS:
        raise InputError(f"{path}: has the columns {', '.join(lines[0])}, but must have {', '.join(COLUMNS)}. Move it")
    return [_as_run(path, number, line) for number, line in enumerate(lines, start=2)]


def _as_run(path: Path, number: int, line: dict[str, str]) -> Run:
    try:
        if None in line or None in line.values():
            raise ValueError("too many or too few cells")
        return Run(
            line["dataset"],
            line["model"],
            line["variant"],
            int(line["split"]),
            int(line["seed"]),
            float(line["val"]),
            float(line["test"]),
            float(line["seconds"]),
            int(line["parameters"]),
            line["recipe"],
        )
    except ValueError as error:
        raise InputError(
            f"{path}, line {number}: is damaged ({error}). Delete the line: the command that made it puts it back from "
            "the run that is kept"
        ) from None


@dataclass(frozen=True)
class Cell:
    """What the runs of one row say on one data set, at one point.

    Attributes:
        mean: Mean over the runs that did not diverge, on test data.
        sd: Standard deviation over the runs.
        interval: Half of the 95 % interval of the mean, by Student's t. Runs on one split are alike: where there are
            several splits it is that of their means.
        n: Number of runs that did not diverge.
        by_split: The mean on every split.
        val: Mean on validation data.
        seconds: Seconds of all runs together.
        diverged: Number of runs whose loss became infinite.
        parameters: How many the model has, where a run tells.
        added: What GraphCON has here that is not in the paper's equation.
    """

    mean: float
    sd: float
    interval: float
    n: int
    by_split: dict[int, float]
    val: float
    seconds: float
    diverged: int
    parameters: int
    added: tuple[str, ...]

    @classmethod
    def of(cls, runs: list[Run]) -> "Cell":
        """The cell of these runs."""
        good = [run for run in runs if not math.isnan(run.test)]
        n, seconds, diverged, extra = len(good), sum(run.seconds for run in runs), len(runs) - len(good), added(runs[0])
        if not good:
            return cls(math.nan, math.nan, math.nan, 0, {}, math.nan, seconds, diverged, 0, extra)
        values = [run.test for run in good]
        splits: dict[int, list[float]] = {}
        for run in good:
            splits.setdefault(run.split, []).append(run.test)
        by_split = {split: statistics.fmean(tests) for split, tests in splits.items()}
        sd = statistics.stdev(values) if n > 1 else 0.0
        interval = half_width(list(by_split.values()) if len(by_split) > 1 else values)
        mean, val = statistics.fmean(values), statistics.fmean(run.val for run in good)
        return cls(mean, sd, interval, n, by_split, val, seconds, diverged, good[0].parameters, extra)


def half_width(values: list[float]) -> float:
    """Half of the 95 % interval of the mean of independent values; unknown of a single one."""
    return student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


#: What a setting adds to the paper's equation.
_ADDED = {"model.residual=True": "linear term", "model.source=": "source", "model.options.norm=": "normalisation"}


def added(run: Run) -> tuple[str, ...]:
    """What a GraphCON has that is not in the paper's equation; nothing for models that are none."""
    ours = run.model.startswith("graphcon-")
    return tuple(what for setting, what in _ADDED.items() if ours and setting in run.recipe)


def plain_stack(run: Run) -> bool:
    """Whether the coefficients of a GraphCON make it the plain stack of its layer."""
    told = recipes.flat(Recipe()) | run.settings
    dt, alpha, gamma = (float(told[f"model.{name}"]) for name in ("dt", "alpha", "gamma"))
    return run.model.startswith("graphcon-") and analyse(dt, alpha, gamma).regime == "degenerate"


def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t."""
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


class Place(NamedTuple):
    """Where a cell stands: which row, which column."""

    dataset: str
    model: str
    variant: str
    point: str

    @property
    def row(self) -> str:
        """The name of the row."""
        return f"{self.model} ({self.variant})" if self.variant else self.model

    @property
    def coefficients(self) -> tuple[float, float]:
        """Alpha and gamma, where the point is that."""
        alpha, gamma = (float(part.partition("=")[2]) for part in self.point.split(" "))
        return alpha, gamma


def cells(table: Table, runs: Iterable[Run]) -> dict[Place, Cell]:
    """All cells of a table, in the order of its data sets and points.

    Raises:
        InputError: A run is at a point that the table does not have.
    """
    labels = [point.label for point in table.points]
    groups: dict[Place, list[Run]] = {}
    for run in runs:
        *before, last = run.variant.split(", ")
        label = last if last in labels else ""
        if label not in labels:
            raise InputError(f"{table.name}.csv: {run.variant!r} is at no point of this table. Delete its lines")
        variant = ", ".join(before) if label else run.variant
        groups.setdefault(Place(run.dataset, run.model, variant, label), []).append(run)
    order = {dataset: number for number, dataset in enumerate(table.datasets)}
    places = sorted(groups, key=lambda place: (order.get(place.dataset, 99), labels.index(place.point)))
    return {place: Cell.of(groups[place]) for place in places}


def markdown(table: Table, runs: list[Run]) -> str:
    """The table: a line a row, ours beside the paper's."""
    found = cells(table, runs)
    digits = table.digits
    if table.axis in ("line", "map"):
        return (_as_lines if table.axis == "line" else _as_map)(found, table)
    columns = list(dict.fromkeys((place.dataset, place.point) for place in found))
    rows = list(dict.fromkeys((place.model, place.variant) for place in found))
    names = [point or dataset for dataset, point in columns]
    quoted = any(paper_figure(table.name, dataset, model, point) for dataset, point in columns for model, _ in rows)
    head = [f"{name}: ours | paper" if quoted else name for name in names]
    lines = [
        "| model | added | parameters | " + " | ".join(head) + " |",
        "|---|---|---:|" + ("---|---|" if quoted else "---|") * len(names),
    ]
    for model, variant in sorted(rows, key=_row_order):
        row = [found.get(Place(dataset, model, variant, point)) for dataset, point in columns]
        told = [_additions(model, row), _parameters(row)]
        for (dataset, point), cell in zip(columns, row, strict=True):
            told.append(_ours(cell, table))
            if quoted:
                told.append(_papers(paper_figure(table.name, dataset, model, point), cell, digits))
        lines.append(f"| {model}{f' ({variant})' if variant else ''} | " + " | ".join(told) + " |")
    return "\n".join(lines) + "\n"


def _row_order(row: tuple[str, str]) -> tuple[str, bool, str]:
    """A base layer stands above the oscillator made of it."""
    model, variant = row
    return (model.removeprefix("graphcon-"), model.startswith("graphcon-"), variant)


def _as_lines(found: dict[Place, Cell], table: Table) -> str:
    """The paper's two lines of every row beside each other: a line a value of what varies."""
    at = {(place.row, *place.coefficients): cell for place, cell in found.items()}
    rows = list(dict.fromkeys(place.row for place in found))
    heads = (f"α, at γ = {SENSITIVITY_GAMMA:g}", f"γ, at α = {SENSITIVITY_ALPHA:g}")
    columns = [f"{row}: {head}" for row in rows for head in heads] if len(rows) > 1 else heads
    lines = [f"| | {' | '.join(columns)} |", "|---:|" + "---|" * len(columns)]
    alphas = {alpha for _, alpha, gamma in at if gamma == SENSITIVITY_GAMMA}
    gammas = {gamma for _, alpha, gamma in at if alpha == SENSITIVITY_ALPHA and gamma != SENSITIVITY_GAMMA}
    for value in sorted(alphas | gammas):
        pair = ((value, SENSITIVITY_GAMMA), (SENSITIVITY_ALPHA, value))
        places = [(row, *coefficients) for row in rows for coefficients in pair]
        lines.append(f"| {value:g} | " + " | ".join(_ours(at.get(place), table) for place in places) + " |")
    return "\n".join(lines) + "\n"


def _as_map(found: dict[Place, Cell], table: Table) -> str:
    """A line an alpha, a column a gamma."""
    at = {place.coefficients: cell for place, cell in found.items()}
    alphas, gammas = sorted({alpha for alpha, _ in at}), sorted({gamma for _, gamma in at})
    lines = ["| α \\ γ | " + " | ".join(f"{gamma:g}" for gamma in gammas) + " |", "|---:|" + "---|" * len(gammas)]
    for alpha in alphas:
        row = (_ours(at.get((alpha, gamma)), table).replace(" [", "<br>[") for gamma in gammas)
        lines.append(f"| {alpha:g} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _additions(model: str, row: list[Cell | None]) -> str:
    """What a row of GraphCON adds to the paper's equation, on all data or on some."""
    sets = [set(cell.added) for cell in row if cell is not None]
    if not model.startswith("graphcon-"):
        return "–"
    some = sorted(set.union(*sets))
    return ", ".join(what if all(what in one for one in sets) else f"{what} (on some)" for what in some) or "nothing"


def _parameters(row: list[Cell | None]) -> str:
    """How many parameters a row has, or from how many to how many: data sets differ in features and classes."""
    counts = {cell.parameters for cell in row if cell is not None and cell.parameters}
    return " – ".join(f"{count:,}" for count in sorted({min(counts), max(counts)})) if counts else "–"


def _ours(cell: Cell | None, table: Table) -> str:
    if cell is None:
        return "not measured"
    digits = table.digits
    lost = f", {cell.diverged} diverged" if cell.diverged else ""
    if cell.n == 0:
        return f"{cell.diverged} of {cell.diverged} diverged"
    if cell.n == 1:
        return f"**{cell.mean:.{digits}f}** (n = 1{lost})"
    # Of runs that differ much Student's interval is wider than what a share or an error can be.
    low, high = max(cell.mean - cell.interval, 0.0), cell.mean + cell.interval
    high = high if table.metric == "mae" else min(high, 100.0)
    spread = f"{cell.mean:.{digits}f} ± {cell.sd:.{digits}f}"
    return f"**{spread}** [{low:.{digits}f}, {high:.{digits}f}] (n = {cell.n}{lost})"


def _papers(figure: tuple[float, float | None] | None, cell: Cell | None, digits: int) -> str:
    """The paper's figure, and by how much ours differs, also in standard deviations of the paper's."""
    if figure is None:
        return "–"
    mean, sd = figure
    told = f"{mean:.{digits}f}" + (f" ± {sd:g}" if sd is not None else "")
    if cell is None or cell.n == 0:
        return told
    off = cell.mean - mean
    return f"{told} ({off:+.{digits}f}" + (f", {abs(off) / sd:.1f} sd)" if sd else ")")


def load(out: Path, name: str) -> list[Run]:
    """The runs kept for a table."""
    return read(out / f"{name}.csv")
