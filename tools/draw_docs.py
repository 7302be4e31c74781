"""Draws the pictures in docs/figures of states and of stability. Seconds to a minute:

.venv/bin/python tools/draw_docs.py
"""

import sys
from pathlib import Path

from graphcon.experiments import diagnose, inside
from graphcon.report import stability_map, states_figure

OUT = Path(__file__).resolve().parent.parent / "docs/figures"
MODELS, DEPTH = ("gcn", "gat", "graphcon-gcn"), 32


def main() -> int:
    recipe = diagnose.recipe_for("cora", None, channels=32, epochs=1, seed=0)
    found = {one.model: one.table for one in inside.compare(recipe, MODELS, (DEPTH,), train=False)}
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
