"""Which of the paper's claims the kept results bear out, in plain words, by fixed rules."""

import csv
import math
from collections import Counter
from pathlib import Path

from graphcon.experiments import results
from graphcon.experiments.cases import (
    CLEAR,
    EVEN,
    NEARLY,
    REACHED,
    SINGLE_WORSE,
    WORSE,
    Case,
    Cells,
    Row,
    cases,
    champions,
    compared,
    preferred,
    with_the_equation_alone,
)
from graphcon.experiments.claims import (
    ALONE,
    ROWS,
    Claim,
    after,
    ahead,
    by_clear_cases,
    counted,
    each_of,
    in_turn,
    listed,
    not_measured,
    runs_each,
    share,
)
from graphcon.experiments.coefficients import judge_coefficients
from graphcon.experiments.reproduce import facts
from graphcon.experiments.results import Cell
from graphcon.experiments.tables import PICTURES, TABLES, Table

#: What is asked of our runs, and is no claim of the paper.
PRINTED = "Our runs reach what the paper prints for GraphCON"
DEPTH_PAYS = {
    "depth-zinc": "On ZINC the error of GraphCON-GCN falls with depth, while that of GCN rises",
    "depth-superpixels": "On superpixels the accuracy of GraphCON-GCN rises with depth, while that of GCN falls",
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
        *judge_coefficients(found["sensitivity"], spent["sensitivity"]),
        _as_good_as_dgn(judged, spent["zinc"]),
        _as_good_as_dgn(printed, spent["zinc"], ALONE),
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
    if not curves:
        return not_measured(text, "energy")
    left = {name: curve[-1] / curve[0] for name, curve in curves.items()}
    alike = [name for name, rest in left.items() if rest < 1e-3]
    right = sum((name in alike) != name.startswith("GraphCON") for name in left)
    told = "; ".join(f"{name}: {rest:.0e}" for name, rest in left.items())
    return Claim(
        text,
        share(right, len(left)),
        "Of the energy, the squared differences of neighbours, less than a thousandth is left in "
        f"{listed(alike)}; more in {listed([name for name in left if name not in alike])}",
        f"what is left of the energy behind the first layer, by the median: {told}",
    )


def _better_than_its_layer(judged: list[Case], where: str = "") -> Claim:
    pairs = [(case, case.layer) for case in judged]
    return _better(f"GraphCON improves on the layer it wraps{where}", pairs)


def _better_than_no_graph(judged: list[Case], where: str = "") -> Claim:
    """On web pages the words alone tell much: the MLP is what any use of the graph must beat."""
    pairs = [(case, case.rows.get("mlp")) for case in judged if case.table.name == "heterophilic"]
    return _better(f"On heterophilic graphs GraphCON is better than a network that sees no graph (MLP){where}", pairs)


def _as_good_as_any(judged: list[Case], where: str = "") -> Claim:
    text = f"On every data set one of the paper's GraphCON models is the best, or on a par with it{where}"
    counts = Counter(ours.against(best) for ours, (_, best) in champions(judged))
    if not counts:
        return not_measured(text)
    leads = ahead(counts)
    seen = (
        f"Beside the best of all others it is ahead in {leads} of {counts.total()} cases, and behind but not clearly "
        f"in {counts[EVEN]}"
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
    seen += "" if "epochs" in best else after(spent)
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
    return Claim(text, by_clear_cases(counts), seen, told)


def _depth_costs_nothing(cells: Cells, spent: str) -> Claim:
    text = "On Cora, 64 layers of GraphCON-GCN do as well as 2 (within 2 points), where GCN collapses"
    curve, base, told = _curves(cells, "depth-cora", spent)
    if not curve:
        return not_measured(text, "depth-cora")
    lost, lost_base = (math.inf if line[-1].diverged else line[0].mean - line[-1].mean for line in (curve, base))
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
    tops = [_best(table, curve) for curve in (ours, base)]
    best = f"at their best depths {in_turn(tops[:1], table.digits)} and {in_turn(tops[1:], table.digits)}"
    right = (judged[0] == CLEAR) + (judged[1] == WORSE)
    return Claim(text, share(right, 2), f"{_ends(table, ours, base)}{after(spent)}", f"{told}; {best}")


def _best(table: Table, curve: list[Cell]) -> float:
    means = [cell.mean for cell in curve if cell.n]
    return (min if table.metric == "mae" else max)(means, default=math.nan)


def _ends(table: Table, ours: list[Cell], base: list[Cell]) -> str:
    """How the deepest networks of GraphCON-GCN and of GCN do beside the shallowest."""
    first, last = (point.label.removesuffix(" layers") for point in (table.points[0], table.points[-1]))
    lines = [(line[0], line[-1]) for line in (ours, base)]
    of = "" if table.metric == "mae" else " %"
    told = [
        f"{in_turn([a.mean], table.digits)} to {in_turn([b.mean], table.digits)}{of} ({compared(table, b, a)})"
        for a, b in lines
    ]
    return f"From {first} to {last} layers GraphCON-GCN goes from {told[0]}, GCN from {told[1]}"


def _as_good_as_dgn(judged: list[Case], spent: str, where: str = "") -> Claim:
    text = f"On ZINC GraphCON-GCN is on a par with DGN{where}"
    pairs = [
        (case, case.rows["dgn"][1])
        for case in judged
        if case.place.dataset == "zinc" and case.place.model == "graphcon-gcn" and "dgn" in case.rows
    ]
    if not pairs:
        return not_measured(text, "zinc")
    case, dgn = pairs[0]
    how = case.against(dgn)
    seen = f"Its error is {case.cell.mean:.3f}, that of DGN {dgn.mean:.3f} ({how})"
    verdict = "does not hold" if how in (WORSE, SINGLE_WORSE) else "holds"
    return Claim(text, verdict, f"{seen}{after(spent)}", f"{spent}: {seen}" if spent else seen)


def _curves(cells: Cells, name: str, spent: str, row: str = "graphcon-gcn") -> tuple[list[Cell], list[Cell], str]:
    """A row of GraphCON-GCN and GCN at every depth of a table, and the same in words; none unless all were measured.

    GCN is at every depth the row of it that validation prefers there.
    """
    depths = [point.label for point in TABLES[name].points]
    rows = [preferred(TABLES[name], {p: c for p, c in cells.items() if p.point == depth}) for depth in depths]
    found = {place.point: cell for place, cell in cells.items() if place.row == row}
    ours = [found[depth] for depth in depths if depth in found]
    base = [cell for best in rows for (_, model), (_, cell) in best.items() if model == "gcn"]
    if len(ours + base) < 2 * len(depths):
        return [], [], ""
    curve, base_curve = (in_turn([cell.mean for cell in row], TABLES[name].digits) for row in (ours, base))
    runs = runs_each(ours + base)
    several = len({place.variant for place in cells if place.model == "gcn"}) > 1
    gcn = "GCN, in each case the row that validation prefers," if several else "GCN"
    told = f"{depths[0]} to {depths[-1]}: GraphCON-GCN {curve}; {gcn} {base_curve}"
    return ours, base, f"{told} {each_of(runs, spent)}"
