"""The page that `graphcon demo` leaves behind."""

from collections.abc import Mapping, Sequence

from graphcon.experiments import depth, energy
from graphcon.report.blocks import Chart, Code, Number, Page, Panel, Series, Table, Words
from graphcon.report.figures import Band

_NEXT = """graphcon train cora-gcn
graphcon report runs/cora-gcn
graphcon train --nodes nodes.csv --edges edges.csv --target label
graphcon diagnose --compare gcn,gat,graphcon-gcn --depths 2,8,32"""


Groups = Mapping[str, Mapping[str, Band]]


def demo_page(groups: Groups, rows: Sequence[depth.Row], seed: int, act: str) -> Page:
    """The page about the energy over 100 random layers and, where there was training, about depth on Cora.

    Args:
        groups: The energies after every layer, by coupling and network.
        rows: How every network did on Cora; none if nothing was trained.
        seed: The seed of both.
        act: The activation of the first.
    """
    panels = [Panel("Random weights", _energy(groups))]
    if rows:
        panels.append(Panel("Trained on Cora", _trained(rows)))
    again = f"graphcon demo --seed {seed} --act {act}" + ("" if rows else " --energy-only")
    panels.append(
        Panel("Again, and next", [Code("The command that makes it again", again), Code("What to try next", _NEXT)])
    )
    return Page("What depth does to a graph network", _lead(groups, rows), panels)


def _lead(groups: Groups, rows: Sequence[depth.Row]) -> list[str]:
    left = {name: band.median[-1] / band.median[0] for members in groups.values() for name, band in members.items()}
    told = "; ".join(f"{name}: {_times(value)}" for name, value in left.items())
    sentences = [
        f"What {energy.LAYERS} layers with random weights leave of the Dirichlet energy behind the first layer, the "
        f"squared difference between neighbours, by the median of {energy.DRAWS} draws: {told}."
    ]
    if rows:
        deepest = max(row.depth for row in rows)
        ends = " and ".join(f"{100 * row.accuracy:.1f} % in {row.model}" for row in rows if row.depth == deepest)
        sentences.append(f"Trained on Cora at {deepest} layers the accuracy on test data is {ends}.")
    return sentences


def _times(factor: float) -> str:
    """A factor in words: 1/97,000 or 14 times."""
    rounded = float(f"{max(factor, 1 / factor):.2g}")
    return f"{rounded:,.0f} times" if factor >= 1 else f"1/{rounded:,.0f}"


def _energy(groups: Groups) -> list[Words | Chart]:
    words = Words(
        (
            f"Random features on a {energy.SIDE}×{energy.SIDE} grid go through {energy.LAYERS} layers with random "
            "weights. The Dirichlet energy says how different neighbours are. The oscillators have the very same "
            f"weights as the plain layers beside them. Every curve is the median of {energy.DRAWS} draws.",
        )
    )
    charts = [
        Chart(
            f"{coupling}, plain and in oscillators",
            "layer",
            "Dirichlet energy",
            [Series(name, range(1, len(band.median) + 1), band.median) for name, band in members.items()],
            log_x=True,
            log_y=True,
        )
        for coupling, members in groups.items()
    ]
    return [words, *charts]


def _trained(rows: Sequence[depth.Row]) -> list[Words | Chart | Table]:
    words = Words(
        (
            "Both networks are made of GCN layers and trained alike. The plain one has a layer of its own at every "
            "depth; GraphCON has one for all steps. These are 1 long, and shorter where they would make up more than "
            f"{depth.TIME:g}: for GraphCON, deeper means finer steps. A GCN with batch normalisation falls later, "
            "at 32 layers (docs/results.md).",
        )
    )

    def curve(name: str, values: Sequence[float]) -> Series:
        return Series(name, [row.depth for row in rows if row.model == name], values)

    accuracy = [curve(name, [100 * row.accuracy for row in rows if row.model == name]) for name in depth.MODELS]
    energies = [curve(name, [row.energy for row in rows if row.model == name]) for name in depth.MODELS]
    cells = [
        (row.model, Number(row.depth, str(row.depth)), Number(row.accuracy), Number(row.energy, f"{row.energy:.1e}"))
        for row in rows
    ]
    return [
        words,
        Chart("Accuracy on test data", "layers", "accuracy in %", accuracy, log_x=True),
        Chart("Energy of the last state", "layers", "Dirichlet energy", energies, log_x=True, log_y=True),
        Table("All numbers", ("network", "layers", "accuracy", "energy"), cells),
    ]
