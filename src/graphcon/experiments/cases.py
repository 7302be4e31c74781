"""Every model of GraphCON on every data set, by the row that validation prefers, beside what it is judged by."""

import math
import statistics
from collections.abc import Iterable, Mapping
from itertools import filterfalse
from typing import NamedTuple

from graphcon.experiments import results
from graphcon.experiments.results import Cell, Place, Run
from graphcon.experiments.tables import TABLES, Table, paper_figure

#: The tables whose rows are models and whose columns are data sets.
JUDGED = ("homophilic", "heterophilic", "ppi", "zinc", "superpixels")
#: What may be said of a case, from good to bad: beside another model, and beside the paper's figure.
CLEAR, WITHIN, SINGLE, EVEN, SINGLE_WORSE, WORSE = (
    "clearly better",
    "better but not clearly",
    "better in a single run",
    "behind but not clearly",
    "behind in a single run",
    "clearly worse",
)
REACHED, NEARLY, MISSED = "reached", "missed by less than two of the paper's standard deviations", "missed"
HOW = (CLEAR, WITHIN, SINGLE, EVEN, SINGLE_WORSE, WORSE, REACHED, NEARLY, MISSED)
Cells = Mapping[Place, Cell]
Row = tuple[Place, Cell]


class Case(NamedTuple):
    """A model of GraphCON on a data set.

    Attributes:
        table: The table it is from.
        place: Its row.
        cell: What was measured.
        rows: By model the row that validation prefers on this data set.
    """

    table: Table
    place: Place
    cell: Cell
    rows: Mapping[str, Row]

    @property
    def layer(self) -> Row | None:
        """The row of the layer it wraps."""
        return self.rows.get(self.place.model.removeprefix("graphcon-"))

    @property
    def best_other(self) -> Row | None:
        """The best of all models that are neither GraphCON nor its layer: by test data, which flatters it."""
        others = [row for row in self.rows.values() if not row[0].model.startswith("graphcon-") and row != self.layer]
        return max(others, key=lambda row: gain(self.table, row[1].mean, 0.0), default=None)

    @property
    def figure(self) -> tuple[float, float | None] | None:
        """The paper's mean and standard deviation."""
        return paper_figure(self.table.name, self.place.dataset, self.place.model)

    @property
    def in_paper(self) -> bool:
        """Whether the paper has this model in this table, on whatever data."""
        figures = (paper_figure(self.table.name, dataset, self.place.model) for dataset in self.table.datasets)
        return any(figure is not None for figure in figures)

    def gain(self, over: float) -> float:
        """By how much it is better than something."""
        return gain(self.table, self.cell.mean, over)

    def against(self, other: Cell) -> str:
        """How it compares."""
        return compared(self.table, self.cell, other)

    def reaches(self) -> str | None:
        """How it compares with the paper's figure; None where there is none."""
        if self.figure is None:
            return None
        if self.cell.diverged:
            return MISSED
        mean, sd = self.figure
        off = self.gain(mean)
        return REACHED if off >= 0 else NEARLY if off >= -2 * (sd or 0.0) else MISSED


def cases(runs: Mapping[str, Iterable[Run]]) -> list[Case]:
    """All cases in the runs of the tables, but for runs in which GraphCON is the plain stack of its layer."""
    found = []
    for name in JUDGED:
        table = TABLES[name]
        rows = preferred(table, results.cells(table, filterfalse(results.plain_stack, runs.get(name, ()))))
        by_dataset: dict[str, dict[str, Row]] = {}
        for (dataset, model), row in rows.items():
            by_dataset.setdefault(dataset, {})[model] = row
        found += [
            Case(table, *row, by_dataset[dataset])
            for (dataset, model), row in rows.items()
            if model.startswith("graphcon-")
        ]
    return found


def champions(judged: Iterable[Case]) -> list[tuple[Case, Row]]:
    """For every data set the paper's GraphCON model that validation prefers, and the best model that is no GraphCON.

    The latter is chosen on test data, which flatters it.
    """
    found: dict[str, list[Case]] = {}
    for case in judged:
        if case.in_paper:
            found.setdefault(case.place.dataset, []).append(case)
    pairs = []
    for group in found.values():
        table = group[0].table
        ours = max(group, key=lambda case: gain(table, case.cell.val, 0.0))
        others = [row for case in group for row in (case.layer, case.best_other) if row is not None]
        best = max(others, key=lambda row: gain(table, row[1].mean, 0.0), default=None)
        pairs += [] if best is None else [(ours, best)]
    return pairs


def with_the_equation_alone(run: Run) -> bool:
    """Whether nothing is added to the paper's equation. Models that are no GraphCON all count."""
    return not results.added(run)


def preferred(table: Table, cells: Cells) -> dict[tuple[str, str], Row]:
    """For every data set and model the row that validation prefers, of what was measured: one that did not diverge."""
    best: dict[tuple[str, str], Row] = {}
    for place, cell in cells.items():
        key = (place.dataset, place.model)
        if key not in best or _merit(table, cell) > _merit(table, best[key][1]):
            best[key] = (place, cell)
    return best


def _merit(table: Table, cell: Cell) -> tuple[bool, float]:
    return (cell.diverged == 0, gain(table, cell.val, 0.0) if cell.n else -math.inf)


def compared(table: Table, ours: Cell, theirs: Cell) -> str:
    """How one cell compares with another on test data. Of what diverged more often the rest does not count."""
    if ours.diverged > theirs.diverged:
        return WORSE
    if theirs.n == 0:
        return CLEAR if ours.n else EVEN
    lead, clear = _lead(table, ours, theirs)
    if min(ours.n, theirs.n) == 1:
        return SINGLE if lead > 0 else SINGLE_WORSE
    if clear:
        return CLEAR if lead > 0 else WORSE
    return WITHIN if lead > 0 else EVEN


def _lead(table: Table, ours: Cell, theirs: Cell) -> tuple[float, bool]:
    """By how much ours is better, and whether the 95 % interval of that leaves out zero.

    Where both have several splits in common the differences on each of these count; otherwise all runs (Welch's
    interval).
    """
    from scipy.stats import ttest_ind_from_stats

    splits = ours.by_split.keys() & theirs.by_split.keys()
    if len(splits) > 1:
        leads = [gain(table, ours.by_split[split], theirs.by_split[split]) for split in splits]
        lead = statistics.fmean(leads)
        return lead, abs(lead) > results.half_width(leads)
    told = ttest_ind_from_stats(ours.mean, ours.sd, ours.n, theirs.mean, theirs.sd, theirs.n, equal_var=False)
    return gain(table, ours.mean, theirs.mean), bool(told.pvalue < 0.05)


def gain(table: Table, ours: float, theirs: float) -> float:
    """By how much ours is better."""
    return theirs - ours if table.metric == "mae" else ours - theirs
