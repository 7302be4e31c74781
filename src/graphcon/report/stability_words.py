"""The stability map of runs, and what their places on it mean."""

from collections import Counter

from torch import Tensor

from graphcon.oscillator import GraphCON
from graphcon.report.blocks import Area, Block, Chart, Series, Words
from graphcon.report.evidence import Evidence
from graphcon.report.regions import HEIGHT, WIDTH, on_map, regions

HOW_TO_READ = (
    "The map shows what one step does to a node that is left alone, before any layer acts on it. It depends on dt, α "
    "and γ through two numbers only: α·dt, how much of the velocity a step takes away, and γ·dt², how hard it pulls "
    "back. Depth needs a place where the state neither blows up nor dies: the oscillating part, not too far right."
)
#: A regime has its colour on every map.
COLOURS = {"unstable": 0, "overdamped": 1, "oscillating": 2}


def stability_blocks(runs: dict[str, Evidence]) -> list[Block]:
    """A map per kind of integrator with a dot per model, and every model's regime in words.

    Args:
        runs: One run of every model, by its name.
    """
    said, dots = [HOW_TO_READ], {True: [], False: []}
    for name, run in runs.items():
        core = run.trained.model.net.core
        if not isinstance(core, GraphCON):
            said.append(f"{name} is no oscillator: it has no place on the map.")
            continue
        places = _places(core)
        dots[core.integrator.name != "imex"].append(_series(name, core, places))
        said.append(f"{name} is {core.stability}")
        if core.trainable:
            regimes = Counter(core.integrator.stability(core.dt, alpha, gamma).regime for alpha, gamma in places)
            learned = ", ".join(f"{count} {regime}" for regime, count in regimes.most_common())
            said.append(f"That is where it began. α and γ were learned; of its {len(places)} channels now: {learned}.")
    charts = [_map(series, exact) for exact, series in dots.items() if series]
    return [Words(said), *charts]


def _places(core: GraphCON) -> list[tuple[float, float]]:
    """α and γ, of every channel where they are learned."""
    alpha, gamma = core.alpha, core.gamma
    if isinstance(alpha, Tensor) and isinstance(gamma, Tensor):
        return list(zip(alpha.tolist(), gamma.tolist(), strict=True))
    return [(float(alpha), float(gamma))]


def _series(name: str, core: GraphCON, places: list[tuple[float, float]]) -> Series:
    spots = [on_map(alpha * core.dt, gamma * core.dt**2) for alpha, gamma in places]
    labels = [
        f"dt = {core.dt:g}, α = {alpha:.4g}, γ = {gamma:.4g}{'' if spot.inside else ', beyond the edge of the map'}"
        for (alpha, gamma), spot in zip(places, spots, strict=True)
    ]
    return Series(name, [spot.x for spot in spots], [spot.y for spot in spots], points=True, labels=labels)


def _map(series: list[Series], exact: bool) -> Chart:
    areas = [
        Area(f"{region.regime}: {region.meaning}", region.outline, COLOURS[region.regime]) for region in regions(exact)
    ]
    title = "Stability of the exact flow" if exact else "Stability of the paper's scheme"
    if not exact:
        plain = Series("a plain GNN in disguise", (1.0,), (1.0,), points=True, labels=("α·dt = γ·dt² = 1",))
        series = [*series, plain]
    limits = (0.0, WIDTH, 0.0, HEIGHT)
    return Chart(title, "damping per step, α·dt", "pull per step, γ·dt²", series, areas=areas, limits=limits)
