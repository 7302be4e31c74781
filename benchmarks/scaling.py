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


def main() -> None:
    options = _options()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    print(f"{options.coupling}, {torch.get_num_threads()} threads, base: {BASE}")
    figure, panels = plt.subplots(2, len(AXES), figsize=(13, 5.5), sharex="col", sharey="row")
    for column, (axis, values) in enumerate(AXES.items()):
        for mode in ("store", "checkpoint"):
            points = [_measure(options.coupling, mode, replace(BASE, **{axis: value})) for value in values]
            seconds, peaks = zip(*points, strict=True)
            for row, (what, measured) in enumerate((("ms", seconds), ("MB", peaks))):
                slope = exponent(values, measured)
                shown = " ".join(f"{value * (1e3 if what == 'ms' else 1e-6):>8.1f}" for value in measured)
                print(f"{axis:>9} {mode:>10} {what}: {shown}   exponent {slope:.2f}", flush=True)
                panels[row, column].loglog(values, measured, "o-", label=f"{mode}: exponent {slope:.2f}")
        panels[0, column].set_title(axis)
        for panel in panels[:, column]:
            panel.legend(fontsize=8)
            panel.grid(alpha=0.3)
    panels[0, 0].set_ylabel("seconds a training step")
    panels[1, 0].set_ylabel("bytes at peak")
    figure.tight_layout()
    figure.savefig(options.figure, dpi=110)
    print(options.figure)


def exponent(values: list[int], measured: tuple[float, ...]) -> float:
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
