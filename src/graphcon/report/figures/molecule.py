"""The oscillating molecule: the paper's picture of the dynamics, as two frames and as an animation."""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch import Tensor

from graphcon._files import write_whole
from graphcon.report.figures._style import PALETTE, drawing

_FRAMES_PER_SECOND = 15


def molecule_figure(
    xs: Tensor,
    edge_index: Tensor,
    elements: list[str],
    path: Path,
    title: str,
    dt: float,
    times: tuple[float, ...] = (0, 20),
) -> None:
    """Draws the atoms where their two features put them, with the bonds between, at some times.

    Args:
        xs: The trajectory, ``[steps + 1, atoms, 2]``.
        edge_index: The bonds, ``[2, edges]``.
        elements: The element of every atom.
        path: Where the picture goes; its ending tells the format.
        title: What is shown.
        dt: The time step of the trajectory.
        times: Which times, a panel each.
    """
    with drawing(path, 4.6 * len(times), 4.4) as figure:
        panels = figure.subplots(1, len(times), squeeze=False)[0]
        for axes, time in zip(panels, times, strict=True):
            x = xs[round(time / dt)]
            _Molecule(axes, edge_index, elements).show(x)
            axes.set_title(f"t = {time:g}")
            _frame(axes, x)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.suptitle(title, x=0.01, ha="left")


def molecule_animation(xs: Tensor, edge_index: Tensor, elements: list[str], path: Path, title: str, dt: float) -> None:
    """Draws the whole trajectory as an animated GIF, all frames on the same axes.

    Args:
        xs: The trajectory, ``[steps + 1, atoms, 2]``.
        edge_index: The bonds, ``[2, edges]``.
        elements: The element of every atom.
        path: Where the GIF goes.
        title: What is shown.
        dt: The time step of the trajectory.
    """
    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(4.0, 4.2), layout="constrained")
        axes: Axes = figure.subplots()
        molecule = _Molecule(axes, edge_index, elements)
        _frame(axes, xs.flatten(0, 1))
        figure.legend(loc="outside lower center", ncols=4, frameon=False)
        molecule.show(xs[0])

        def draw(n: int) -> list:
            axes.set_title(f"{title}, t = {n * dt:4.1f}", loc="left")
            return molecule.show(xs[n])

        animation = FuncAnimation(figure, draw, frames=len(xs), blit=False)
        # Where drawing ends early, matplotlib still writes the frames it has.
        with TemporaryDirectory() as folder:
            drawn = Path(folder) / path.name
            animation.save(drawn, writer=PillowWriter(fps=_FRAMES_PER_SECOND), dpi=80)
            write_whole(path, drawn.read_bytes())


class _Molecule:
    """Bonds and atoms on some axes, to be moved."""

    def __init__(self, axes: Axes, edge_index: Tensor, elements: list[str]):
        self.bonds = LineCollection([], colors="#555555", linewidths=1.5, zorder=1)
        axes.add_collection(self.bonds)
        self.edge_index = edge_index[:, edge_index[0] < edge_index[1]]
        self.members = {kind: [i for i, e in enumerate(elements) if e == kind] for kind in dict.fromkeys(elements)}
        self.atoms = [
            axes.plot([], [], "o", color=colour, markeredgecolor="black", markersize=9, label=kind, zorder=2)[0]
            for colour, kind in zip(("#444444", *PALETTE), self.members, strict=False)
        ]

    def show(self, x: Tensor) -> list:
        self.bonds.set_segments(list(x[self.edge_index.T].numpy()))
        for drawn, members in zip(self.atoms, self.members.values(), strict=True):
            drawn.set_data(x[members, 0].numpy(), x[members, 1].numpy())
        return [self.bonds, *self.atoms]


def _frame(axes: Axes, x: Tensor) -> None:
    """Axes around all points, the same scale in both directions."""
    low, high = x.min(0).values, x.max(0).values
    middle, half = (low + high) / 2, 0.56 * float((high - low).max()) + 1e-6
    axes.set(xlim=(float(middle[0]) - half, float(middle[0]) + half))
    axes.set(ylim=(float(middle[1]) - half, float(middle[1]) + half), aspect="equal")
    axes.set(xlabel="first feature", ylabel="second feature")
