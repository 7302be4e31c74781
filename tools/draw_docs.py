"""Draws the pictures in docs/figures of states and of stability. Seconds to a minute:

.venv/bin/python tools/draw_docs.py
"""

import sys
from dataclasses import replace
from pathlib import Path

from graphcon.experiments import diagnose
from graphcon.experiments.inside import look_inside
from graphcon.report import stability_map, states_figure
from graphcon.training.load_data import load_dataset

OUT = Path(__file__).resolve().parent.parent / "docs/figures"
MODELS, DEPTH = ("gcn", "gat", "graphcon-gcn"), 32


def main() -> int:
    recipe = diagnose.recipe_for("cora", None, channels=32, epochs=1, seed=0)
    dataset, _ = load_dataset(recipe.data)
    deep = [replace(recipe, model=replace(recipe.model, name=name, steps=DEPTH)) for name in MODELS]
    found = {one.model.name: look_inside(one, dataset).table for one in deep}
    states_figure(found, OUT / "states.png", f"{DEPTH} layers with random weights on Cora, step by step")

    settings = {
        "the default: dt = 0.5, α = 0.5, γ = 1": (0.5, 0.5, 1.0),
        "the paper's ZINC: dt = 1, α = 0.215, γ = 1.115": (1.0, 0.215, 1.115),
        "the paper's superpixels: dt = 1, α = 1, γ = 0.76": (1.0, 1.0, 0.76),
    }
    stability_map(settings, OUT / "stability.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
