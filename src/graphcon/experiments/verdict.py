"""Which of the paper's claims the kept results bear out, in plain words, by fixed rules."""

import csv
from collections import Counter
from pathlib import Path

from graphcon.experiments import results
from graphcon.experiments.cases import (
    CLEAR,
    EVEN,
    NEARLY,
    REACHED,
    WORSE,
    Case,
    Cells,
    Row,
    cases,
    champions,
    compared,
    gain,
    preferred,
    with_the_equation_alone,
)
from graphcon.experiments.claims import Claim, ahead, counted, each_of, in_cases, in_turn, listed, not_measured, share
from graphcon.experiments.reproduce import facts
from graphcon.experiments.results import Cell
from graphcon.experiments.tables import PICTURES, TABLES, Point, Table

#: Where rows are left out that add a linear term, a source or a normalisation.
ALONE = ", with its equation alone"

#: The row of GraphCON-GCN in tables with an axis, as it is and with its equation alone.
ROWS = {"": "graphcon-gcn", ALONE: "graphcon-gcn (without linear term)"}
PRINTED = "Our runs reach what the paper prints for GraphCON"
DEPTH_PAYS = {
    "depth-zinc": "On ZINC the error of GraphCON-GCN falls with depth, while that of GCN rises",
    "depth-superpixels": "On superpixels the accuracy of GraphCON-GCN rises with depth, while that of GCN falls",
}
#: By coefficient the claim, and the points of the table that it is about.
ROBUST = {
    "alpha": (
        "On superpixels accuracy hardly depends on alpha below 1.6 (at gamma = 0.76)",
        TABLES["sensitivity"].points[:8],
    ),
    "gamma": (
        "On superpixels accuracy hardly depends on gamma from 0.2 on (at alpha = 1)",
        TABLES["sensitivity"].points[12:],
    ),
}


def verdicts(out: Path) -> list[Claim]:
    """All claims, judged by the results in a folder."""
    runs = {name: results.load(out, name) for name in TABLES}
    found = {name: results.cells(TABLES[name], kept) for name, kept in runs.items()}
    spent = {name: facts(out, name).get("spent", "") for name in TABLES}
    judged = [case for case in cases(runs) if case.in_paper]
    bare = {name: filter(with_the_equation_alone, kept) for name, kept in runs.items()}
    printed = [case for case in cases(bare) if case.in_paper]
    return [
        _stay_apart((out / PICTURES["energy"].file).with_suffix(".csv")),
        _better_than_its_layer(judged),
        _better_than_its_layer(printed, ALONE),
        _as_good_as_any(judged),
        _as_good_as_any(printed, ALONE),
        _better_than_no_graph(judged),
        _better_than_no_graph(printed, ALONE),
        _figures(PRINTED, judged),
        _figures(f"{PRINTED}{ALONE}", printed),
        _half_the_error(judged, found["epochs-zinc"], spent["zinc"]),
        _depth_costs_nothing(found["depth-cora"], spent["depth-cora"]),
        _better_than_dropedge(found["depth-cora"], spent["depth-cora"]),
        *(
            _depth_pays(f"{text}{where}", found[name], name, spent[name], row)
            for name, text in DEPTH_PAYS.items()
            for where, row in ROWS.items()
        ),
        *(
            _robust(f"{text}{where}", name, found["sensitivity"], points, spent["sensitivity"], row)
            for name, (text, points) in ROBUST.items()
            for where, row in ROWS.items()
        ),
        _on_proteins(judged),
    ]


def _stay_apart(file: Path) -> Claim:
    """Neighbours have become alike where less than a thousandth is left of the energy behind the first layer."""
    text = "Over 100 layers with random weights neighbours become alike in GCN and GAT, and do not in GraphCON"
    if not file.exists():
        return not_measured(text, "energy")
    curves: dict[str, list[float]] = {}
    with file.open(newline="", encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            curves.setdefault(line["network"], []).append(float(line["median"]))
    left = {name: curve[-1] / curve[0] for name, curve in curves.items()}
    alike = [name for name, share in left.items() if share < 1e-3]
    right = sum((name in alike) != name.startswith("GraphCON") for name in left)
    told = "; ".join(f"{name}: {share:.0e}" for name, share in left.items())
    return Claim(
        text,
        share(right, len(left)),
        f"Neighbours keep less than a thousandth of their difference in {listed(alike)}; they keep more in "
        f"{listed([name for name in left if name not in alike])}",
        f"what is left of the energy behind the first layer, by the median: {told}",
    )


def _better_than_its_layer(judged: list[Case], where: str = "") -> Claim:
    pairs = [(case, case.layer) for case in judged]
    return _better(f"GraphCON improves on the layer it wraps{where}", pairs)


def _better_than_no_graph(judged: list[Case], where: str = "") -> Claim:
    """On web pages the words alone tell much: the MLP is what any use of the graph must beat."""
    pairs = [(case, case.no_graph) for case in judged if case.table.name == "heterophilic"]
    return _better(f"On heterophilic graphs GraphCON is better than a network that sees no graph (MLP){where}", pairs)


def _as_good_as_any(judged: list[Case], where: str = "") -> Claim:
    text = f"On every data set one of the paper's GraphCON models is the best, or on a par with it{where}"
    counts = Counter(ours.against(best) for ours, (_, best) in champions(judged))
    if not counts:
        return not_measured(text)
    leads = ahead(counts)
    seen = (
        f"Beside the best of all others it is ahead in {leads} of {counts.total()} cases, and behind by no more than "
        f"the spread in {counts[EVEN]}"
    )
    return Claim(text, share(leads + counts[EVEN], counts.total()), seen, counted(counts))


def _half_the_error(judged: list[Case], longer: Cells, spent: str) -> Claim:
    """Beside the table of all rows, GraphCON-GCN is judged by the longest training that both have had."""
    text, table = "On ZINC GraphCON halves the error of the layer it wraps", TABLES["epochs-zinc"]
    pairs = [
        (case.place.model, case.cell, case.layer[1])
        for case in judged
        if case.table.name == "zinc" and case.layer is not None
    ]
    for point in reversed(table.points):
        rows = preferred(table, {place: cell for place, cell in longer.items() if place.point == point.label})
        cells = {model: cell for (_, model), (_, cell) in rows.items()}
        if {"graphcon-gcn", "gcn"} <= cells.keys():
            pairs.append((f"graphcon-gcn after {point.label}", cells["graphcon-gcn"], cells["gcn"]))
            break
    if not pairs:
        return not_measured(text, "zinc")
    told = ", ".join(
        f"{model} {cell.mean:.3f} where its layer has {layer.mean:.3f} ({cell.mean / layer.mean:.2f} times)"
        for model, cell, layer in pairs
    )
    half = sum(cell.mean <= layer.mean / 2 for _, cell, layer in pairs)
    best, cell, layer = min(pairs, key=lambda pair: pair[1].mean / pair[2].mean)
    seen = f"At best ({best}) its error is {cell.mean / layer.mean:.2f} times that of its layer"
    return Claim(text, share(half, len(pairs)), seen, f"{spent}: {told}" if spent else told)


def _figures(text: str, judged: list[Case]) -> Claim:
    counts = Counter(reached for case in judged if (reached := case.reaches()) is not None)
    if not counts:
        return not_measured(text)
    seen = f"{counts[REACHED]} of {counts.total()} figures were reached, and {counts[NEARLY]} more nearly"
    return Claim(text, share(counts[REACHED], counts.total()), seen, counted(counts))


def _on_proteins(judged: list[Case]) -> Claim:
    found = _figures(f"{PRINTED} on PPI", [case for case in judged if case.table.name == "ppi"])
    return found if found.figures else found._replace(plain="The data must be downloaded first: graphcon reproduce ppi")


def _better(text: str, pairs: list[tuple[Case, Row | None]]) -> Claim:
    return _by_counts(text, Counter(case.against(other[1]) for case, other in pairs if other is not None))


def _by_counts(text: str, counts: Counter[str], spent: str = "") -> Claim:
    """A claim that holds where all cases are clearly better."""
    if not counts:
        return not_measured(text)
    seen = f"It is ahead in {ahead(counts)} of {counts.total()} cases, clearly in {counts[CLEAR] or 'none'}"
    if counts[WORSE]:
        seen += f"; it is clearly behind in {counts[WORSE]}"
    told = f"{counted(counts)} ({spent})" if spent else counted(counts)
    return Claim(text, share(counts[CLEAR], counts.total()), seen, told)


def _depth_costs_nothing(cells: Cells, spent: str) -> Claim:
    text = "On Cora, 64 layers of GraphCON-GCN do as well as 2 (within 2 points), where GCN collapses"
    curve, base, told = _curves(cells, "depth-cora", spent)
    if not curve:
        return not_measured(text, "depth-cora")
    lost, lost_base = (line[0].mean - line[-1].mean for line in (curve, base))
    verdict = "holds" if lost <= 2 < lost_base else "holds in part" if lost < lost_base else "does not hold"
    return Claim(text, verdict, _ends(TABLES["depth-cora"], curve, base), told)


def _better_than_dropedge(cells: Cells, spent: str) -> Claim:
    """DropEdge is at every depth the row of it that validation prefers there."""
    text, table = "On Cora GraphCON-GCN is better than GCN with DropEdge at every depth", TABLES["depth-cora"]
    counts: Counter[str] = Counter()
    for point in table.points:
        at = {place: cell for place, cell in cells.items() if place.point == point.label}
        ours = [cell for place, cell in at.items() if place.row == "graphcon-gcn"]
        rival = preferred(table, at).get(("depth-cora", "dropedge"))
        if ours and rival is not None:
            counts[compared(table, ours[0], rival[1])] += 1
    return _by_counts(text, counts, spent)


def _depth_pays(text: str, cells: Cells, name: str, spent: str, row: str) -> Claim:
    """Of the shallowest and the deepest network the deepest must be clearly better, and of the layer clearly worse."""
    table = TABLES[name]
    ours, base, told = _curves(cells, name, spent, row)
    if not ours:
        return not_measured(text, name)
    judged = [compared(table, line[-1], line[0]) for line in (ours, base)]
    top, base_top = (max(curve, key=lambda cell: gain(table, cell.mean, 0.0)).mean for curve in (ours, base))
    best = f"at their best depths {top:.{table.digits}f} and {base_top:.{table.digits}f}"
    right = (judged[0] == CLEAR) + (judged[1] == WORSE)
    return Claim(text, share(right, 2), _ends(table, ours, base), f"{told}; {best}")


def _ends(table: Table, ours: list[Cell], base: list[Cell]) -> str:
    """How the deepest networks of GraphCON-GCN and of GCN do beside the shallowest."""
    first, last = (point.label.removesuffix(" layers") for point in (table.points[0], table.points[-1]))
    lines = [(line[0], line[-1]) for line in (ours, base)]
    of = "" if table.metric == "mae" else " %"
    told = [f"{a.mean:.{table.digits}f} to {b.mean:.{table.digits}f}{of} ({compared(table, b, a)})" for a, b in lines]
    return f"From {first} to {last} layers GraphCON-GCN goes from {told[0]}, GCN from {told[1]}"


def _robust(text: str, name: str, cells: Cells, points: tuple[Point, ...], spent: str, row: str) -> Claim:
    found = {place.point: cell for place, cell in cells.items() if place.row == row and cell.n}
    line = [found[point.label] for point in points if point.label in found]
    if len(line) < len(points):
        return not_measured(text, "sensitivity")
    means, runs = [cell.mean for cell in line], min(cell.n for cell in line)
    first, last = (point.changes[f"model.{name}"] for point in (points[0], points[-1]))
    seen = f"Between {first:g} and {last:g} it is {min(means):.1f} % at worst and {max(means):.1f} % at best"
    told = f"{name} {first:g} to {last:g}: {in_turn(means, 1)} {each_of(runs, spent)}"
    if max(means) - min(means) < 2:
        return Claim(text, "holds", seen, told)
    chance = _chance(line)
    if runs > 1:
        told += f"; if it did not matter, chance would give as much in {in_cases(chance)}"
    return Claim(text, "does not hold" if chance < 0.05 else "unclear", seen, told)


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


def _curves(cells: Cells, name: str, spent: str, row: str = "graphcon-gcn") -> tuple[list[Cell], list[Cell], str]:
    """A row of GraphCON-GCN and GCN at every depth of a table, and the same in words; none unless all were measured.

    GCN is at every depth the row of it that validation prefers there.
    """
    depths = [point.label for point in TABLES[name].points]
    rows = [preferred(TABLES[name], {p: c for p, c in cells.items() if p.point == depth}) for depth in depths]
    found = {place.point: cell for place, cell in cells.items() if place.row == row and cell.n}
    ours = [found[depth] for depth in depths if depth in found]
    base = [cell for best in rows for (_, model), (_, cell) in best.items() if model == "gcn"]
    if len(ours + base) < 2 * len(depths):
        return [], [], ""
    curve, base_curve = (in_turn([cell.mean for cell in row], TABLES[name].digits) for row in (ours, base))
    runs = min(cell.n for cell in ours + base)
    several = len({place.variant for place in cells if place.model == "gcn"}) > 1
    gcn = "GCN, in each case the row that validation prefers," if several else "GCN"
    told = f"{depths[0]} to {depths[-1]}: GraphCON-GCN {curve}; {gcn} {base_curve}"
    return ours, base, f"{told} {each_of(runs, spent)}"
