"""Time and memory of one training step of a deep network on a graph as large as ogbn-arxiv.

    python benchmarks/large_graph.py
    python benchmarks/large_graph.py --coupling gat --memory store

The graph is random, of 169,343 nodes and 2.3 million edges. Memory is the peak of the whole process.
"""

import argparse
import resource
import sys
import time

import torch

from graphcon import GraphCON, couplings
from graphcon.experiments.bench import WORKLOADS

ARXIV = next(workload for workload in WORKLOADS if workload.name == "arxiv")


def main() -> None:
    options = _options()
    torch.manual_seed(0)
    half = torch.randint(ARXIV.nodes, (2, ARXIV.edges // 2))
    edge_index = torch.cat([half, half.flip(0)], dim=1)
    x = torch.randn(ARXIV.nodes, options.channels)
    layer = couplings.build(options.coupling, options.channels)
    network = GraphCON(layer, options.steps, memory=options.memory)
    before = _peak()
    start = time.perf_counter()
    network(x, edge_index).square().mean().backward()
    seconds = time.perf_counter() - start
    told = f"{options.coupling}, {options.steps} steps, {options.channels} channels, {options.memory}"
    print(f"{told}: {seconds:.1f} s, {_peak():.2f} GB at peak, of which {before:.2f} GB before the step")


def _peak() -> float:
    """Gigabytes that the process has held at most."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit * 1e-9


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coupling", choices=sorted(couplings.COUPLINGS), default="gcn")
    parser.add_argument("--memory", choices=("checkpoint", "store"), default="checkpoint")
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--channels", type=int, default=64)
    return parser.parse_args()


if __name__ == "__main__":
    main()
