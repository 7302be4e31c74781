"""How the time and the memory of a training step grow with nodes, edges, channels and depth.

    python benchmarks/scaling.py
    python benchmarks/scaling.py --coupling gat --threads 1 --figure docs/figures/scaling.png

One of the four is varied at a time, the others stay at the base. The exponent is the slope of a straight line through
the points on logarithmic axes: 1 means twice as much costs twice as much.
"""

import argparse
import math
import statistics
import time
from dataclasses import replace

import matplotlib.pyplot as plt
import torch

from graphcon import GraphCON, couplings
from graphcon.experiments.bench import Workload, _training_step
from graphcon.experiments.peak import peak_bytes

BASE = Workload("base", nodes=20_000, edges=100_000, channels=64, steps=8)
AXES = {
    "nodes": [10_000, 20_000, 40_000, 80_000],
    "edges": [100_000, 200_000, 400_000, 800_000],
    "channels": [32, 64, 128, 256],
    "steps": [8, 16, 32, 64],
}

# What was measured by what is varied, the memory mode and the unit.
Found = dict[tuple[str, str, str], list[float]]


def main() -> None:
    options = _options()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    print(f"{options.coupling}, {torch.get_num_threads()} threads, base: {BASE}")
    found: Found = {}
    for axis, values in AXES.items():
        for mode in ("store", "checkpoint"):
            points = [_measure(options.coupling, mode, replace(BASE, **{axis: value})) for value in values]
            seconds, peaks = zip(*points, strict=True)
            in_units = {"ms": [1e3 * value for value in seconds], "MB": [1e-6 * value for value in peaks]}
            for unit, measured in in_units.items():
                found[axis, mode, unit] = measured
                shown = " ".join(f"{value:>8.1f}" for value in measured)
                print(f"{axis:>9} {mode:>10} {unit}: {shown}   exponent {exponent(values, measured):.2f}", flush=True)
    draw(found, options.figure)
    print(options.figure)


def draw(found: Found, path: str) -> None:
    """A column for what is varied, a row for time and one for memory."""
    figure, panels = plt.subplots(2, len(AXES), figsize=(13, 5.5), sharex="col", sharey="row")
    for (axis, mode, unit), measured in found.items():
        column = list(AXES).index(axis)
        panel, values = panels[0 if unit == "ms" else 1, column], AXES[axis]
        panel.loglog(values, measured, "o-", label=f"{mode}: exponent {exponent(values, measured):.2f}")
        panel.set_xticks(values, [f"{value:,}" for value in values])
        panel.xaxis.minorticks_off()
        panel.yaxis.set_major_formatter("{x:,.0f}")
        panel.yaxis.set_minor_formatter("")
        panel.legend(fontsize=8, loc="upper left")
        panel.grid(alpha=0.3)
        panels[0, column].set_title(axis)
    for row in panels:
        row[0].margins(y=0.25)  # room for the legends; all panels of a row share their scale
    panels[0, 0].set_ylabel("ms a training step")
    panels[1, 0].set_ylabel("MB at peak")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def exponent(values: list[int], measured: list[float]) -> float:
    """The slope of the line of least squares on logarithmic axes."""
    x, y = [math.log(value) for value in values], [math.log(max(value, 1e-9)) for value in measured]
    return statistics.linear_regression(x, y).slope


def _measure(coupling: str, mode: str, workload: Workload) -> tuple[float, int]:
    torch.manual_seed(0)
    half = torch.randint(workload.nodes, (2, workload.edges // 2))
    network = GraphCON(couplings.build(coupling, workload.channels), workload.steps, memory=mode)
    job = _training_step(
        network, torch.randn(workload.nodes, workload.channels), torch.cat([half, half.flip(0)], dim=1)
    )  # fmt: skip
    peak = peak_bytes(job) or 0
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return min(seconds), peak


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coupling", choices=sorted(couplings.COUPLINGS), default="gcn")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--figure", default="docs/figures/scaling.png")
    return parser.parse_args()


if __name__ == "__main__":
    main()
