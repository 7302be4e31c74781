"""A claim of the paper and what became of it, and the words for that."""

import math
from collections import Counter
from typing import NamedTuple

from graphcon.experiments.cases import CLEAR, HOW, SINGLE, WITHIN, WORSE
from graphcon.experiments.results import Cell

#: What can become of a claim, and how that is said of one claim and of several.
VERDICTS = {
    "holds": ("holds", "hold"),
    "holds in part": ("holds in part", "hold in part"),
    "does not hold": ("does not hold", "do not hold"),
    "unclear": ("is unclear", "are unclear"),
    "not measured": ("was not measured", "were not measured"),
}

#: Where rows are left out that add a linear term, a source or a normalisation.
ALONE = ", with its equation alone"

#: The row of GraphCON-GCN in tables with an axis, as it is and with its equation alone.
ROWS = {"": "graphcon-gcn", ALONE: "graphcon-gcn (without linear term)"}


class Claim(NamedTuple):
    """A claim of the paper, and what became of it.

    Attributes:
        text: The claim.
        verdict: One of `VERDICTS`.
        plain: What was seen, in plain words.
        figures: The figures behind it, and how they were judged.
    """

    text: str
    verdict: str
    plain: str
    figures: str = ""


def not_measured(text: str, name: str = "") -> Claim:
    """A claim without results, and the table that would have them."""
    return Claim(text, "not measured", f"graphcon reproduce {name} measures it" if name else "nothing was measured")


def ahead(counts: Counter[str]) -> int:
    """In how many cases it is better, clearly or not."""
    return counts[CLEAR] + counts[WITHIN] + counts[SINGLE]


def listed(names: list[str]) -> str:
    """Networks, as a sentence names them."""
    *rest, last = [name.replace(", ", " with ") for name in names] or ["none"]
    return f"{', '.join(rest)} and {last}" if rest else last


def in_cases(chance: float) -> str:
    """A probability, in words."""
    return "fewer than 1 of 100 cases" if chance < 0.01 else f"{100 * chance:.0f} of 100 cases"


def runs_each(cells: list[Cell]) -> int:
    """How many runs there are at least behind every figure."""
    return min((cell.n for cell in cells if cell.n), default=0)


def each_of(runs: int, spent: str) -> str:
    """How many runs are behind every figure."""
    return f"({runs} run{'s' if runs > 1 else ''} each{f': {spent}' if spent else ''})"


def after(spent: str) -> str:
    """What a training was cut to, as the end of a sentence; nothing where recipes were trained as they say."""
    cut = [part.removesuffix(" in every part") for part in spent.split(", ") if part.startswith("at most")]
    return f", after {' on '.join(cut)}" if cut else ""


def in_turn(values: list[float], digits: int) -> str:
    """Values along an axis; where every run diverged, that."""
    return " → ".join("diverged" if math.isnan(value) else f"{value:.{digits}f}" for value in values)


def counted(counts: Counter[str]) -> str:
    """How many cases there are of each kind, in a fixed order."""
    of = counts.total()
    told = ", ".join(f"{counts[how]} {how}" for how in HOW if counts[how])
    return f"of {of} case{'s' if of > 1 else ''} {told}"


def share(good: int, of: int) -> str:
    """The verdict on a claim that is right in so many of all cases."""
    return "holds" if good == of else "holds in part" if good else "does not hold"


def by_clear_cases(counts: Counter[str]) -> str:
    """The verdict on a claim that says one thing is better than another: where nothing is clear, neither is that."""
    undecided = counts[CLEAR] == counts[WORSE] == 0
    return "unclear" if undecided else share(counts[CLEAR], counts.total())
