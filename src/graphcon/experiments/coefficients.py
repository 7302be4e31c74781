"""The paper's alpha and gamma: what its values do, and what it says of them, judged by the table of the sensitivity."""

from graphcon import stability
from graphcon.experiments.cases import CLEAR, WORSE, Cells, compared
from graphcon.experiments.claims import ROWS, Claim, after, each_of, in_cases, in_turn, not_measured, runs_each
from graphcon.experiments.results import Cell
from graphcon.experiments.tables import TABLES, Point

SENSITIVITY = TABLES["sensitivity"]
#: By coefficient the claim, and the points of the table that it is about.
ROBUST = {
    "alpha": (
        "On superpixels accuracy hardly depends on alpha below 1.6 (at gamma = 0.76)",
        SENSITIVITY.points[:8],
    ),
    "gamma": (
        "On superpixels accuracy hardly depends on gamma from 0.2 on (at alpha = 1)",
        SENSITIVITY.points[12:],
    ),
}
#: The values that the paper trains with, by data and model; its steps are all 1 long.
PRINTED = {
    ("Cora, Citeseer, Pubmed", "all"): (1.0, 1.0),
    ("Texas, Wisconsin, Cornell", "all"): (0.0, 0.0),
    ("PPI", "GraphCON-GCN"): (0.242, 1.0),
    ("PPI", "GraphCON-GAT"): (0.785, 1.0),
    ("ZINC", "GraphCON-GCN"): (0.215, 1.115),
    ("ZINC", "GraphCON-GAT"): (1.475, 1.324),
    ("superpixels", "GraphCON-GCN"): (1.0, 0.76),
    ("superpixels", "GraphCON-GAT"): (0.76, 0.105),
}
FALLS = "On superpixels accuracy falls where gamma is close to 0 (at alpha = 1)"


def printed_coefficients() -> str:
    """What a step of 1 does with the paper's values before any layer acts, as a table."""
    lines = ["| data | model | α | γ | a step without coupling |\n|---|---|---:|---:|---|\n"]
    for (data, model), (alpha, gamma) in PRINTED.items():
        found = stability.analyse(1.0, alpha, gamma)
        lines.append(f"| {data} | {model} | {alpha:g} | {gamma:g} | *{found.regime}*: {found.explanation} |\n")
    return "".join(lines)


def judge_coefficients(cells: Cells, spent: str) -> list[Claim]:
    """All claims on coefficients, of the row with the linear term and of that with the equation alone."""
    found = []
    for name, (text, points) in ROBUST.items():
        found += [
            _robust(f"{text}{where}", name, _along(cells, points, row), points, spent) for where, row in ROWS.items()
        ]
    ends = SENSITIVITY.points[11:13]  # no gamma, and the least that the paper calls robust
    return found + [_falls(f"{FALLS}{where}", _along(cells, ends, row), spent) for where, row in ROWS.items()]


def _along(cells: Cells, points: tuple[Point, ...], row: str) -> list[Cell]:
    """A row at some points; nothing unless all were measured."""
    found = {place.point: cell for place, cell in cells.items() if place.row == row}
    line = [found[point.label] for point in points if point.label in found]
    return line if len(line) == len(points) else []


def _robust(text: str, name: str, line: list[Cell], points: tuple[Point, ...], spent: str) -> Claim:
    if not line:
        return not_measured(text, "sensitivity")
    means, runs = [cell.mean for cell in line], runs_each(line)
    first, last = (point.changes[f"model.{name}"] for point in (points[0], points[-1]))
    seen = f"Between {first:g} and {last:g} it is {min(means):.1f} % at worst and {max(means):.1f} % at best"
    seen += after(spent)
    told = f"{name} {first:g} to {last:g}: {in_turn(means, 1)} {each_of(runs, spent)}"
    if any(cell.diverged for cell in line):
        return Claim(text, "does not hold", f"Between {first:g} and {last:g} some runs diverged{after(spent)}", told)
    if max(means) - min(means) < 2:
        return Claim(text, "holds", seen, told)
    chance = _chance(line)
    if runs > 1:
        told += f"; if it did not matter, chance would give as much in {in_cases(chance)}"
    return Claim(text, "does not hold" if chance < 0.01 else "unclear", seen, told)


def _falls(text: str, line: list[Cell], spent: str) -> Claim:
    if not line:
        return not_measured(text, "sensitivity")
    without, little = line
    how = compared(SENSITIVITY, without, little)
    seen = f"Without gamma it is {without.mean:.1f} % ({how}), with 0.2 {little.mean:.1f} %"
    told = f"gamma 0 and 0.2: {in_turn([without.mean, little.mean], 1)} {each_of(runs_each(line), spent)}"
    verdict = {WORSE: "holds", CLEAR: "does not hold"}.get(how, "unclear")
    return Claim(text, verdict, f"{seen}{after(spent)}", told)


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
