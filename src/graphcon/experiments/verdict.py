"""Which of the paper's claims the kept results bear out, in plain words, by fixed rules."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from graphcon.experiments import results
from graphcon.experiments.cases import CLEAR, HOW, REACHED, Case, Cells, Row, as_printed_by_the_paper, cases, preferred
from graphcon.experiments.results import Cell
from graphcon.experiments.tables import TABLES

#: Where rows are left out that add a linear term, a source or a normalisation.
ALONE = ", with its equation alone"


class Claim(NamedTuple):
    """A claim, what became of it, and why in short."""

    text: str
    verdict: str  # holds, holds in part, does not hold, unclear, not measured
    short: str


def verdicts(out: Path) -> list[Claim]:
    """All claims, judged by the results in a folder."""
    runs = {name: results.load(out, name) for name in TABLES}
    found = {name: results.cells(TABLES[name], kept) for name, kept in runs.items()}
    judged = cases(runs)
    printed = cases({name: filter(as_printed_by_the_paper, kept) for name, kept in runs.items()})
    return [
        _better_than_its_layer(judged),
        _better_than_its_layer(printed, ALONE),
        _better_than_no_graph(judged),
        _figures(judged),
        _figures(printed, ALONE),
        _depth_costs_nothing(found["depth-cora"]),
        _falls_with_depth(found["depth-zinc"]),
        _rises_with_depth(found["depth-superpixels"]),
        _robust(found["sensitivity"]),
    ]


def _better_than_its_layer(judged: list[Case], where: str = "") -> Claim:
    pairs = [(case, case.layer) for case in judged]
    return _better(f"GraphCON improves on the layer it wraps{where}", pairs)


def _better_than_no_graph(judged: list[Case]) -> Claim:
    """On web pages the words alone tell much: the MLP is what any use of the graph must beat."""
    pairs = [(case, case.no_graph) for case in judged if case.table.name == "heterophilic"]
    return _better("On heterophilic graphs GraphCON is better than a network that sees no graph (MLP)", pairs)


def _better(text: str, pairs: list[tuple[Case, Row | None]]) -> Claim:
    counts = Counter(case.against(other[1]) for case, other in pairs if other is not None)
    return Claim(text, _share(counts[CLEAR], counts.total()), _counted(counts))


def _figures(judged: list[Case], where: str = "") -> Claim:
    counts = Counter(reached for case in judged if (reached := case.reaches()) is not None)
    text = f"GraphCON's figures are reached{where}"
    return Claim(text, _share(counts[REACHED], counts.total()), _counted(counts))


def _depth_costs_nothing(cells: Cells) -> Claim:
    text = "On Cora, 64 layers of GraphCON-GCN do as well as 2 (within 2 points), where GCN collapses"
    curve, base, told = _curves(cells, "depth-cora", 1)
    if not curve:
        return Claim(text, "not measured", told)
    lost, lost_base = curve[0] - curve[-1], base[0] - base[-1]
    verdict = "holds" if lost <= 2 < lost_base else "holds in part" if lost < lost_base else "does not hold"
    return Claim(text, verdict, told)


def _falls_with_depth(cells: Cells) -> Claim:
    text = "On ZINC the error of GraphCON-GCN falls with depth, while that of GCN rises"
    curve, base, told = _curves(cells, "depth-zinc", 3)
    if not curve:
        return Claim(text, "not measured", told)
    holds, base_holds = curve[-1] < curve[0], base[-1] > base[0]
    return Claim(text, _share(holds + base_holds, 2), told)


def _rises_with_depth(cells: Cells) -> Claim:
    text = "On superpixels the accuracy of GraphCON-GCN rises with depth, while that of GCN falls"
    curve, base, told = _curves(cells, "depth-superpixels", 1)
    if not curve:
        return Claim(text, "not measured", told)
    holds, base_holds = curve[-1] > curve[0], base[-1] < base[0]
    return Claim(text, _share(holds + base_holds, 2), told)


def _robust(cells: Cells) -> Claim:
    text = "Accuracy hardly depends on alpha below 1.6 (at gamma = 0.76)"
    found = {place.point: cell for place, cell in cells.items() if cell.n}
    line = [found[point.label] for point in TABLES["sensitivity"].points[:8] if point.label in found]
    if len(line) < 8:
        return Claim(text, "not measured", "graphcon reproduce sensitivity")
    means, runs = [cell.mean for cell in line], min(cell.n for cell in line)
    told = f"alpha 0 to 1.4: {_told(means, 1)} {_each(runs)}"
    if max(means) - min(means) < 2:
        return Claim(text, "holds", told)
    chance = _chance(line)
    judged = f"{told}; alpha that does not matter would give as much in {100 * chance:.0f} of 100 cases"
    return Claim(text, "does not hold" if chance < 0.05 else "unclear", told if runs == 1 else judged)


def _chance(line: list[Cell]) -> float:
    """How likely means differ as much where all cells are alike: the analysis of variance. One where it cannot tell."""
    from scipy.stats import f

    runs = sum(cell.n for cell in line)
    within = sum((cell.n - 1) * cell.sd**2 for cell in line)
    if within == 0:
        return 1.0
    mean = sum(cell.n * cell.mean for cell in line) / runs
    between = sum(cell.n * (cell.mean - mean) ** 2 for cell in line)
    free, rest = len(line) - 1, runs - len(line)
    return float(f.sf(between / free / (within / rest), free, rest))


def _curves(cells: Cells, name: str, digits: int) -> tuple[list[float], list[float], str]:
    """GraphCON-GCN and GCN at every depth of a table, and the same in words; none unless all were measured.

    GCN is at every depth the row of it that validation prefers there.
    """
    depths = [point.label for point in TABLES[name].points]
    rows = [preferred(TABLES[name], {p: c for p, c in cells.items() if p.point == depth}) for depth in depths]
    plain = {place.point: cell for place, cell in cells.items() if place.row == "graphcon-gcn" and cell.n}
    ours = [plain[depth] for depth in depths if depth in plain]
    base = [cell for row in rows for (_, model), (_, cell) in row.items() if model == "gcn"]
    if len(ours + base) < 2 * len(depths):
        return [], [], f"graphcon reproduce {name}, at all depths"
    curve, base_curve = ([cell.mean for cell in row] for row in (ours, base))
    runs = min(cell.n for cell in ours + base)
    several = len({place.variant for place in cells if place.model == "gcn"}) > 1
    gcn = "GCN, in each case the row that validation prefers," if several else "GCN"
    told = f"{depths[0]} to {depths[-1]}: GraphCON-GCN {_told(curve, digits)}; {gcn} {_told(base_curve, digits)}"
    return curve, base_curve, f"{told} {_each(runs)}"


def _each(runs: int) -> str:
    return f"({runs} run{'s' if runs > 1 else ''} each)"


def _told(values: list[float], digits: int) -> str:
    return " → ".join(f"{value:.{digits}f}" for value in values)


def _counted(counts: Counter[str]) -> str:
    """How many cases there are of each kind, in a fixed order."""
    if not counts:
        return ""
    of = counts.total()
    told = ", ".join(f"{counts[how]} {how}" for how in HOW if counts[how])
    return f"of {of} case{'s' if of > 1 else ''} {told}"


def _share(good: int, of: int) -> str:
    if of == 0:
        return "not measured"
    return "holds" if good == of else "holds in part" if good else "does not hold"
