"""The table at the head of docs/results.md: GraphCON beside its layer, the paper and the best of all others."""

from collections.abc import Iterable, Mapping

from graphcon.experiments.cases import Case, cases, with_the_equation_alone
from graphcon.experiments.results import Cell, Run

_HEAD = ("data", "GraphCON", "added", "ours", "its layer", "paper", "its equation alone", "best of all others")


def glance(runs: Mapping[str, Iterable[Run]]) -> str:
    """A line for every model of GraphCON on every data set; nothing where nothing was measured."""
    runs = {name: list(kept) for name, kept in runs.items()}
    printed = {name: list(filter(with_the_equation_alone, kept)) for name, kept in runs.items()}
    alone = {(case.place.dataset, case.place.model): case for case in cases(printed)}
    lines = [_line(case, alone.get((case.place.dataset, case.place.model))) for case in cases(runs)]
    if not lines:
        return ""
    return "\n".join([_cells(_HEAD), _cells(["---"] * len(_HEAD)), *map(_cells, lines)]) + "\n"


def _line(case: Case, alone: Case | None) -> list[str]:
    layer, best, digits = case.layer, case.best_other, case.table.digits
    return [
        case.place.dataset,
        case.place.row,
        ", ".join(case.cell.added) or "nothing",
        f"**{_mean(case.cell, digits)}** (n = {case.cell.n})",
        "–" if layer is None else f"{_mean(layer[1], digits)}: {_signed(case, layer[1].mean)}{_sizes(case, layer[1])}",
        "–" if case.figure is None else f"{case.figure[0]:.{digits}f}: {_signed(case, case.figure[0])}",
        "not measured" if alone is None else "the same" if alone.place == case.place else _mean(alone.cell, digits),
        "–" if best is None else f"{best[0].row} {_mean(best[1], digits)}" + (" (n = 1)" if best[1].n == 1 else ""),
    ]


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _mean(cell: Cell, digits: int) -> str:
    return "diverged" if cell.n == 0 else f"{cell.mean:.{digits}f}" + (f" ± {cell.sd:.{digits}f}" if cell.n > 1 else "")


def _signed(case: Case, over: float) -> str:
    """By how much it is better, in the digits of the table, or as many as it takes to see that it is not nothing."""
    gain = case.gain(over)
    told = f"{gain:+.{case.table.digits}f}"
    return f"{gain:+.1g}" if gain and not float(told) else told


def _sizes(case: Case, layer: Cell) -> str:
    """How many times as many parameters it has, where that is not about as many."""
    times = case.cell.parameters / layer.parameters if layer.parameters else 1.0
    return "" if 0.8 <= times <= 1.25 else f", with {times:.2g} × the parameters"
