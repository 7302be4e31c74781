"""The stability map."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from graphcon.report.figures._style import MARKERS, PALETTE, drawing
from graphcon.report.regions import HEIGHT, WIDTH, on_map, regions
from graphcon.stability import analyse, analyse_exact


def stability_map(
    models: Mapping[str, tuple[float, float, float]],
    path: Path,
    title: str = "What the uncoupled step does",
    *,
    exact: bool = False,
) -> None:
    r"""Draws by how much one uncoupled step shrinks or grows the state, with the regimes' borders and a mark per model.

    The step depends on dt, α and γ through :math:`\alpha\Delta t` and :math:`\gamma\Delta t^2` alone: the axes.

    Args:
        models: ``(dt, alpha, gamma)`` by the model's name.
        path: Where the picture goes; its ending tells the format.
        title: What is shown.
        exact: Whether the integrator follows the exact flow, as `strang` and `adaptive` do, and not the paper's scheme.
    """
    judge = analyse_exact if exact else analyse
    damping, restoring = np.linspace(0, WIDTH, 160), np.linspace(0, HEIGHT, 160)
    radius = np.array([[judge(1.0, float(a), float(g)).spectral_radius for a in damping] for g in restoring])
    with drawing(path, 6.6, 4.2 + 0.25 * (len(models) + 1)) as figure:
        axes: Axes = figure.subplots()
        # The scale is centred at 1: neither growing nor shrinking.
        image = axes.pcolormesh(damping, restoring, radius, cmap="RdBu_r", vmin=0, vmax=2, rasterized=True)
        figure.colorbar(image, ax=axes, label="factor of the state per step, in the long run", extend="max")
        for region in regions(exact):
            if region.regime != "unstable":
                axes.plot(*zip(*region.outline, region.outline[0], strict=True), color="black", linewidth=1)
        for i, (name, (dt, alpha, gamma)) in enumerate(models.items()):
            spot = on_map(alpha * dt, gamma * dt * dt)
            label = name if spot.inside else f"{name}, beyond the edge"
            style = {"markersize": 9, "markeredgecolor": "black", "linestyle": "none", "clip_on": False, "zorder": 3}
            marker = MARKERS[(i + i // len(PALETTE)) % len(MARKERS)]  # another one where colours begin anew
            axes.plot(spot.x, spot.y, marker, color=PALETTE[i % len(PALETTE)], label=label, **style)
        if not exact:
            axes.plot(1, 1, "kx", linestyle="none", zorder=4, label="a plain GNN: α·dt = γ·dt² = 1")
            axes.text(0.35, 2.2, "oscillates", ha="center")
            axes.text(1.3, 0.35, "decays", ha="center")
            axes.text(1.9, 3.0, "unstable", ha="center", color="white")
        axes.set(xlabel="damping per step, α·dt", ylabel="restoring force per step, γ·dt²", title=title)
        axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
        axes.grid(False)
        figure.legend(loc="outside lower left")
