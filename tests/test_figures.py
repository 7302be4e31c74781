"""Figures hold what they are given, and the maps agree with the laws."""

from pathlib import Path

import polars as pl
import pytest
import torch
from matplotlib.image import imread
from matplotlib.path import Path as Outline
from PIL import Image

from graphcon.diagnostics import state_table
from graphcon.experiments import molecule
from graphcon.report import (
    Sensitivity,
    molecule_animation,
    molecule_figure,
    sensitivity_figure,
    stability_map,
    states_figure,
)
from graphcon.report.blocks import Chart, Series
from graphcon.report.chart import draw
from graphcon.report.regions import HEIGHT, WIDTH, on_map, regions
from graphcon.stability import analyse, analyse_exact

from graphs import ring


@pytest.mark.parametrize("exact", [False, True])
def test_every_point_of_the_map_lies_in_the_region_that_stability_names(exact):
    judge = analyse_exact if exact else analyse
    generator = torch.Generator().manual_seed(0)
    outlines = [(region.regime, Outline(region.outline)) for region in regions(exact)]
    for a, g in (torch.rand(400, 2, generator=generator) * torch.tensor([WIDTH, HEIGHT])).tolist():
        drawn = [regime for regime, outline in outlines if outline.contains_point((a, g))][-1]
        near_a_border = any(  # curves are drawn as polygons
            outline.contains_point((a, g), radius=0.02) != outline.contains_point((a, g), radius=-0.02)
            for _, outline in outlines
        )
        assert near_a_border or drawn == judge(1.0, a, g).regime


def test_the_molecule_starts_as_its_drawing_and_oscillates():
    found = molecule.trajectory(time=2.0)
    assert found.xs.shape == (21, 21, 2)
    assert found.elements.count("N") == 4
    assert found.elements.count("O") == 3  # trimethoprim: C14 H18 N4 O3
    bonds = (found.xs[0][found.edge_index[0]] - found.xs[0][found.edge_index[1]]).norm(dim=-1)
    assert 1.1 < bonds.min() <= bonds.max() < 1.6  # a drawing, in its own unit
    assert torch.allclose(found.xs[0].mean(0), torch.zeros(2), atol=1e-5)


def test_a_model_beyond_the_map_is_marked_at_its_edge():
    assert on_map(0.5, 0.25) == (0.5, 0.25, True)
    assert on_map(3.0, 6.0) == (WIDTH, HEIGHT, False)


def test_no_two_lines_of_a_chart_look_alike():
    series = [Series(f"model {i}", (0.0, 1.0), (float(i), 0.0)) for i in range(20)]
    assert len({line.style for line in draw(Chart("many", "step", "energy", series)).lines}) == 20


def test_an_unknown_molecule_is_refused():
    with pytest.raises(ValueError, match="no molecule of the solubility set"):
        molecule.trajectory("XX")


def test_the_molecule_is_drawn_and_animated(tmp_path: Path):
    found = molecule.trajectory(time=0.4)
    molecule_figure(found.xs, found.edge_index, found.elements, tmp_path / "m.png", "title", found.dt, (0.0, 0.4))
    molecule_animation(found.xs, found.edge_index, found.elements, tmp_path / "m.gif", "title", found.dt)
    assert imread(tmp_path / "m.png").std() > 0.05
    with Image.open(tmp_path / "m.gif") as animation:
        assert getattr(animation, "n_frames", 1) == 5


def test_an_animation_that_is_interrupted_leaves_the_old_one(tmp_path: Path):
    class Interrupted(str):
        def __format__(self, spec: str) -> str:
            frames.append(self)
            if len(frames) > 3:
                raise KeyboardInterrupt
            return str(self)

    frames, file = [], tmp_path / "m.gif"
    file.write_text("the old one")
    with pytest.raises(KeyboardInterrupt):
        molecule_animation(torch.rand(9, 4, 2), ring(4), list("CCCO"), file, Interrupted("title"), 0.1)
    assert file.read_text() == "the old one"
    assert list(tmp_path.iterdir()) == [file]


def test_the_other_figures_are_drawn(tmp_path: Path):
    curve = Sensitivity("α", "γ = 0.76", [0.0, 1.0, 2.0], [97.0, 98.0, 90.0], [0.1, 0.2, 3.0])
    sensitivity_figure([curve, curve._replace(coefficient="γ")], tmp_path / "sensitivity.png", "title")
    both = [curve._replace(network=name) for name in ("a", "b")]
    sensitivity_figure(both, tmp_path / "networks.png", "title")
    stability_map({"default": (0.5, 0.5, 1.0)}, tmp_path / "stability.png")
    table = state_table([torch.rand(6, 3), torch.ones(6, 3)], ring())
    states_figure({"a": table, "b": table}, tmp_path / "states.png", "title")
    deep = table.with_columns(pl.Series("depth", [2, 4]))
    states_figure({"a": deep}, tmp_path / "depths.png", "of n[1]$a_{$.csv", against="depth")  # a file may be called so
    for picture in tmp_path.glob("*.png"):
        assert imread(picture).std() > 0.05
