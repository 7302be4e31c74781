"""Which of the paper's claims the kept results bear out, in plain words, by fixed rules."""

from pathlib import Path
from typing import NamedTuple

from graphcon.experiments import results
from graphcon.experiments.results import Cell, Place, Run
from graphcon.experiments.tables import TABLES, Table, paper_figure

Cells = dict[Place, Cell]

#: Where rows are left out that add a linear term, a source or a normalisation.
ALONE = ", with its equation alone"


class Claim(NamedTuple):
    """A claim, what became of it, why in short, and where there is more to say than that, line by line."""

    text: str
    verdict: str  # holds, holds in part, does not hold, unclear, not measured
    short: str
    evidence: tuple[str, ...] = ()


def verdicts(out: Path) -> list[Claim]:
    """All claims, judged by the results in a folder."""
    runs = {name: results.load(out, name) for name in TABLES}
    found = {name: results.cells(TABLES[name], kept) for name, kept in runs.items()}
    printed = {name: results.cells(TABLES[name], filter(_as_the_paper_has_it, kept)) for name, kept in runs.items()}
    return [
        _better_than_its_layer(found),
        _better_than_its_layer(printed, ALONE),
        _better_than_no_graph(found["heterophilic"]),
        _figures(found),
        _figures(printed, ALONE),
        _depth_costs_nothing(found["depth-cora"]),
        _falls_with_depth(found["depth-zinc"]),
        _rises_with_depth(found["depth-superpixels"]),
        _robust(found["sensitivity"]),
    ]


def _as_the_paper_has_it(run: Run) -> bool:
    """Whether its equation is the paper's: no linear term, no source, nothing normalised. Plain layers all count."""
    added = ("model.residual=True", "model.source=", "model.options.norm=")
    return not run.model.startswith("graphcon-") or not any(setting in run.recipe for setting in added)


def _better_than_its_layer(found: dict[str, Cells], where: str = "") -> Claim:
    pairs = []
    for name in ("homophilic", "heterophilic", "zinc", "superpixels"):
        rows = _preferred(TABLES[name], found[name])
        for (dataset, model), row in rows.items():
            if model.startswith("graphcon-"):
                base = rows.get((dataset, model.removeprefix("graphcon-")))
                pairs.append((TABLES[name], *row, base and base[1]))
    return _better(f"GraphCON improves on the layer it wraps{where}", pairs)


def _better_than_no_graph(cells: Cells) -> Claim:
    """On web pages the words alone tell much: the MLP is what any use of the graph must beat."""
    table = TABLES["heterophilic"]
    pairs = [
        (table, place, cell, cells.get(place._replace(model="mlp", variant="")))
        for place, cell in _oscillators(table, cells)
    ]
    return _better("On heterophilic graphs GraphCON is better than a network that sees no graph (MLP)", pairs)


def _better(text: str, pairs: list[tuple[Table, Place, Cell, Cell | None]]) -> Claim:
    """Judged where both were measured, by the means on test data and their 95 % intervals."""
    clear, not_clear, single, worse = [], [], [], []
    for table, place, cell, base in pairs:
        if base is None or base.n == 0 or cell.n == 0:
            continue
        gain, wide = _gain(table, cell.mean, base.mean), cell.interval + base.interval
        told = f"{place.row} on {place.dataset} ({_signed(gain, table)}{_sizes(cell, base)})"
        better = single if min(cell.n, base.n) == 1 else clear if gain > wide else not_clear
        (better if gain > 0 else worse).append(told)
    verdict = _share(len(clear), len(clear + not_clear + single + worse))
    short, evidence = _listed(
        ("clearly better (the 95 % intervals apart)", clear),
        ("better within the spread", not_clear),
        ("better in a single run (the spread unknown)", single),
        ("not better", worse),
    )
    return Claim(text, verdict, short, evidence)


def _sizes(cell: Cell, base: Cell) -> str:
    """How many times as many parameters it has, where that is not about as many."""
    times = cell.parameters / base.parameters if base.parameters else 1.0
    return "" if 0.8 <= times <= 1.25 else f", {times:.2g} × the parameters"


def _figures(found: dict[str, Cells], where: str = "") -> Claim:
    reached, within, missed = [], [], []
    for name in ("homophilic", "heterophilic", "zinc", "superpixels"):
        table = TABLES[name]
        for place, cell in _oscillators(table, found[name]):
            figure = paper_figure(name, place.dataset, place.model)
            if figure is None:
                continue
            gain = _gain(table, cell.mean, figure[0])
            label = f"{place.row} on {place.dataset} ({_signed(gain, table)})"
            (reached if gain >= 0 else within if gain >= -2 * (figure[1] or 0.0) else missed).append(label)
    verdict = _share(len(reached), len(reached + within + missed))
    short, evidence = _listed(
        ("reached", reached), ("missed by less than two of the paper's standard deviations", within), ("missed", missed)
    )
    return Claim(f"GraphCON's figures are reached{where}", verdict, short, evidence)


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


def _oscillators(table: Table, cells: Cells) -> list[tuple[Place, Cell]]:
    return [row for (_, model), row in _preferred(table, cells).items() if model.startswith("graphcon-")]


def _preferred(table: Table, cells: Cells) -> dict[tuple[str, str], tuple[Place, Cell]]:
    """For every data set and model the row that validation prefers, of what was measured.

    Rows as printed are left out: with all coefficients one, GraphCON is the plain stack.
    """
    best: dict[tuple[str, str], tuple[Place, Cell]] = {}
    for place, cell in cells.items():
        if "as printed" in place.variant or cell.n == 0:
            continue
        key = (place.dataset, place.model)
        if key not in best or _gain(table, cell.val, best[key][1].val) > 0:
            best[key] = (place, cell)
    return best


def _curves(cells: Cells, name: str, digits: int) -> tuple[list[float], list[float], str]:
    """GraphCON-GCN and GCN at every depth of a table, and the same in words; none unless all were measured.

    GCN is at every depth the row of it that validation prefers there.
    """
    depths = [point.label for point in TABLES[name].points]
    rows = [_preferred(TABLES[name], {p: c for p, c in cells.items() if p.point == depth}) for depth in depths]
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


def _gain(table: Table, ours: float, theirs: float) -> float:
    return theirs - ours if table.metric == "mae" else ours - theirs


def _signed(gain: float, table: Table) -> str:
    """The digits of the table, or as many as it takes to see that it is not nothing."""
    told = f"{gain:+.{table.digits}f}"
    return f"{gain:+.1g}" if gain and not float(told) else told


def _each(runs: int) -> str:
    return f"({runs} run{'s' if runs > 1 else ''} each)"


def _told(values: list[float], digits: int) -> str:
    return " → ".join(f"{value:.{digits}f}" for value in values)


def _listed(*groups: tuple[str, list[str]]) -> tuple[str, tuple[str, ...]]:
    """How many there are of each kind, and a line that names them."""
    there = [(title, names) for title, names in groups if names]
    counts = ", ".join(f"{len(names)} {title}" for title, names in there)
    of = sum(len(names) for _, names in there)
    return f"of {of} cases {counts}" if of else "", tuple(f"{title}: {', '.join(names)}" for title, names in there)


def _share(good: int, of: int) -> str:
    if of == 0:
        return "not measured"
    return "holds" if good == of else "holds in part" if good else "does not hold"
