"""Speed and memory of training steps, ours beside PyG's, in one run.

For every workload and coupling four ways of the same training step are timed in turn, round after round in one process,
so that whatever else the machine does falls on all of them alike:

- ``graphcon``: `GraphCON` around the layer;
- ``loop``: the oscillator written by hand around the same PyG layer;
- ``csr``: that loop with PyG's sorted `EdgeIndex`, and for GCN with its cached normalisation;
- ``floor``: the bare matrix products of these shapes, which no implementation can do without.
"""

import math
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric import EdgeIndex

from graphcon import couplings
from graphcon.experiments.peak import peak_bytes
from graphcon.oscillator import GraphCON

COUPLINGS = ("gcn", "gat", "transformer")


@dataclass(frozen=True)
class Workload:
    """A random graph of the size of a known one, and a network of the width and depth that is used on it."""

    name: str
    nodes: int
    edges: int  # both directions of each counted
    channels: int
    steps: int


WORKLOADS = (
    Workload("texas", 183, 574, 64, 5),
    Workload("cora", 2_708, 10_556, 64, 16),
    Workload("zinc", 2_970, 6_380, 220, 22),  # 128 molecules
    Workload("superpixel", 2_260, 18_080, 256, 10),  # 32 pictures
    Workload("ppi", 2_373, 66_000, 512, 9),
    Workload("arxiv", 169_343, 2_315_598, 64, 2),  # PyG's transformer keeps 2 GB a step
)


# A quick run takes no more steps than write this many values to edges in PyG's way: all of them, but for ppi.
_QUICK_MESSAGES = 70_000_000

# After so many rounds, and so many seconds, no more are begun: the complete run stays below ten minutes.
_LEAST_ROUNDS, _LONG = 2, 6.0


@dataclass(frozen=True)
class Timing:
    """Seconds of one way of doing a training step, and by how many bytes the process grew at most."""

    seconds: list[float]
    peak_bytes: int | None

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def spread(self) -> float:
        """How far the median is above the best, as a share of it."""
        return statistics.median(self.seconds) / self.best - 1.0


@dataclass(frozen=True)
class Row:
    """One workload with one coupling; `ways` lacks ``csr`` where PyG cannot go that way."""

    workload: Workload
    coupling: str
    ways: dict[str, Timing]

    def speedup(self, over: str = "loop") -> float | None:
        """How many times faster than another way ours is."""
        return self.ways[over].best / self.ways["graphcon"].best if over in self.ways else None


def rows(quick: bool = False) -> Iterator[Row]:
    """Measures workload by workload.

    Args:
        quick: Leaves the largest graph out, takes fewer rounds, and fewer steps where PyG's take long.
    """
    for workload in WORKLOADS:
        if quick and workload.nodes > 100_000:
            continue
        affordable = max(1, _QUICK_MESSAGES // (workload.edges * workload.channels))
        shape = replace(workload, steps=min(workload.steps, affordable)) if quick else workload
        for name in COUPLINGS:
            yield measure(shape, name, rounds=3 if quick else 7)


def measure(workload: Workload, coupling: str, rounds: int) -> Row:
    """Times the four ways in turn, after one turn that does not count; in fewer rounds where they take long."""
    torch.manual_seed(0)
    half = torch.randint(workload.nodes, (2, workload.edges // 2))
    edge_index = torch.cat([half, half.flip(0)], dim=1)
    x = torch.randn(workload.nodes, workload.channels)
    layer = couplings.build(coupling, workload.channels)
    jobs: dict[str, Callable[[], None]] = {
        "graphcon": _training_step(GraphCON(layer, workload.steps, memory="store"), x, edge_index),
        "loop": _training_step(_loop(layer, workload.steps), x, edge_index),
        "csr": _csr_step(coupling, layer, workload, x, edge_index),
        "floor": _floor(layer, workload, x),
    }
    seconds: dict[str, list[float]] = {way: [] for way in jobs}
    peaks = {}
    for way, job in list(jobs.items()):
        try:
            peaks[way] = peak_bytes(job)
        except (RuntimeError, ValueError):
            if way != "csr":
                raise
            del jobs[way]  # PyG does not go this way with every layer
    began = time.perf_counter()
    for n in range(rounds):
        if n >= _LEAST_ROUNDS and time.perf_counter() - began > _LONG:
            break
        for way, job in jobs.items():
            # A step of a fraction of a millisecond is repeated until the clock can tell.
            times = max(1, min(20, int(0.02 / seconds[way][0]))) if seconds[way] else 1
            start = time.perf_counter()
            for _ in range(times):
                job()
            seconds[way].append((time.perf_counter() - start) / times)
    return Row(workload, coupling, {way: Timing(seconds[way], peaks[way]) for way in jobs})


def summary(measured: list[Row]) -> dict[str, dict[str, float]]:
    """Per coupling: the geometric mean and the least of the speed-ups over the loop, and the ratio to the floor.

    The ceiling is the geometric mean that the bare products would have: no implementation can gain more.
    """
    found = {}
    for name in dict.fromkeys(row.coupling for row in measured):
        own = [row for row in measured if row.coupling == name]
        ratios = [ratio for row in own if (ratio := row.speedup()) is not None]
        floors = [
            row.ways["graphcon"].best / row.ways["floor"].best
            for row in own
            if row.workload.name in ("zinc", "superpixel", "ppi")
        ]
        found[name] = {
            "geometric_mean": statistics.geometric_mean(ratios),
            "ceiling": statistics.geometric_mean(row.ways["loop"].best / row.ways["floor"].best for row in own),
            "least": min(ratios),
            "most_over_floor": max(floors, default=math.nan),
        }
    return found


def as_json(measured: list[Row]) -> dict[str, Any]:
    """Everything that was measured, and where."""
    table = [
        asdict(row.workload)
        | {"coupling": row.coupling}
        | {way: asdict(t) | {"best": t.best, "spread": t.spread} for way, t in row.ways.items()}
        for row in measured
    ]
    versions = {"torch": torch.__version__, "python": platform.python_version(), "machine": platform.machine()}
    return {"environment": versions | {"threads": torch.get_num_threads()}, "rows": table, "summary": summary(measured)}


def _training_step(network: Callable[..., Tensor], x: Tensor, edge_index: Tensor) -> Callable[[], None]:
    def run() -> None:
        network(x, edge_index).square().mean().backward()

    return run


def _loop(layer: Module, steps: int) -> Callable[[Tensor, Tensor], Tensor]:
    """What one would write by hand."""

    def run(x: Tensor, edge_index: Tensor) -> Tensor:
        y = x
        for _ in range(steps):
            y = y + 0.5 * (layer(x, edge_index).relu() - 1.0 * x - 0.5 * y)
            x = x + 0.5 * y
        return x

    return run


def _csr_step(name: str, layer: Module, workload: Workload, x: Tensor, edge_index: Tensor) -> Callable[[], None]:
    options = {"cached": True} if name == "gcn" else {}
    own = couplings.build(name, workload.channels, **options)
    own.load_state_dict(layer.state_dict())
    size = (workload.nodes, workload.nodes)
    # Sorted by target, with its transpose at hand: all that PyG can use.
    whole: Any = EdgeIndex
    ordered = whole(edge_index, sparse_size=size, is_undirected=True).sort_by("col").values.fill_cache_()
    return _training_step(_loop(own, workload.steps), x, ordered)


def _floor(layer: Module, workload: Workload, x: Tensor) -> Callable[[], None]:
    """The three products of every map of the layer, forward and backward, and nothing else.

    The gradient of the first state, which nobody asks for, is left out here as in all other ways.
    """
    weights = [weight.detach() for weight in layer.parameters() if weight.dim() == 2]
    grads = [torch.randn(workload.nodes, len(weight)) for weight in weights]

    def run() -> None:
        for step in range(workload.steps):
            for weight, grad in zip(weights, grads, strict=True):
                torch.mm(x, weight.t())
                torch.mm(grad.t(), x)
                if step > 0:
                    torch.mm(grad, weight)

    return run
