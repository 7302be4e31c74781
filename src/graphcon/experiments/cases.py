"""Every model of GraphCON on every data set, by the row that validation prefers, beside what it is judged by."""

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
    "better within the spread",
    "better in a single run",
    "not better, within the spread",
    "not better in a single run",
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
        layer: The row of the layer it wraps.
        no_graph: The MLP.
        best_other: Of all other models that are no GraphCON, the one that is best on test data: that flatters it.
    """

    table: Table
    place: Place
    cell: Cell
    layer: Row | None
    no_graph: Row | None
    best_other: Row | None

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
        mean, sd = self.figure
        off = self.gain(mean)
        return REACHED if off >= 0 else NEARLY if off >= -2 * (sd or 0.0) else MISSED


def cases(runs: Mapping[str, Iterable[Run]]) -> list[Case]:
    """All cases in the runs of the tables, but for runs in which GraphCON is the plain stack of its layer."""
    found = []
    for name in JUDGED:
        table = TABLES[name]
        rows = preferred(table, results.cells(table, filterfalse(results.plain_stack, runs.get(name, ()))))
        for (dataset, model), (place, cell) in rows.items():
            if not model.startswith("graphcon-"):
                continue
            layer = model.removeprefix("graphcon-")
            others = [
                row
                for (where, other), row in rows.items()
                if where == dataset and other != layer and not other.startswith("graphcon-")
            ]
            best = max(others, key=lambda row: gain(table, row[1].mean, 0.0), default=None)
            found.append(Case(table, place, cell, rows.get((dataset, layer)), rows.get((dataset, "mlp")), best))
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
    """For every data set and model the row that validation prefers, of what was measured."""
    best: dict[tuple[str, str], Row] = {}
    for place, cell in cells.items():
        if cell.n == 0:
            continue
        key = (place.dataset, place.model)
        if key not in best or gain(table, cell.val, best[key][1].val) > 0:
            best[key] = (place, cell)
    return best


def compared(table: Table, ours: Cell, theirs: Cell) -> str:
    """How one cell compares with another on test data."""
    better = gain(table, ours.mean, theirs.mean) > 0
    if min(ours.n, theirs.n) == 1:
        return SINGLE if better else SINGLE_WORSE
    if apart(ours, theirs):
        return CLEAR if better else WORSE
    return WITHIN if better else EVEN


def apart(one: Cell, other: Cell) -> bool:
    """Whether the 95 % interval of the difference leaves out zero.

    On several splits the differences on each count; on one, all runs (Welch's interval).
    """
    from scipy.stats import ttest_ind_from_stats

    splits = one.by_split.keys() & other.by_split.keys()
    if len(splits) > 1:
        differences = [one.by_split[split] - other.by_split[split] for split in splits]
        return abs(statistics.fmean(differences)) > results.half_width(differences)
    statistic = ttest_ind_from_stats(one.mean, one.sd, one.n, other.mean, other.sd, other.n, equal_var=False)
    return bool(statistic.pvalue < 0.05)


def gain(table: Table, ours: float, theirs: float) -> float:
    """By how much ours is better."""
    return theirs - ours if table.metric == "mae" else ours - theirs
