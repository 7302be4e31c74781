"""Every layer that the kernels serve, beside its own path: a training step of the oscillator around it.

    python benchmarks/layers.py
    python benchmarks/layers.py --only gin,cheb
    python benchmarks/layers.py --per-step

The two are timed in turn in one process, best of several rounds, on random graphs of the size of two molecules, of a
batch of superpixels, of Cora and of a batch of molecules.
"""

import argparse
import time

import torch
from torch.nn import Linear, Module, ReLU, Sequential
from torch_geometric import nn as pyg

from graphcon import GraphCON, couplings, kernels

#: Nodes, edges, channels.
SIZES = {
    "two molecules": (46, 100, 64),
    "superpixels": (1_200, 9_600, 64),
    "cora": (2_708, 10_556, 64),
    "130 molecules": (3_000, 6_400, 128),
}
LAYERS = {
    "GCNConv": lambda c: pyg.GCNConv(c, c),
    "GATConv, 4 heads": lambda c: pyg.GATConv(c, c // 4, heads=4),
    "GATv2Conv, 4 heads": lambda c: pyg.GATv2Conv(c, c // 4, heads=4),
    "TransformerConv, 4 heads": lambda c: pyg.TransformerConv(c, c // 4, heads=4),
    "DotProductConv": lambda c: couplings.build("transformer", c),
    "SAGEConv, mean": lambda c: pyg.SAGEConv(c, c),
    "SAGEConv, max": lambda c: pyg.SAGEConv(c, c, aggr="max"),
    "GINConv": lambda c: pyg.GINConv(Sequential(Linear(c, c), ReLU(), Linear(c, c))),
    "ResGatedGraphConv": lambda c: pyg.ResGatedGraphConv(c, c),
    "GatedGCNConv": lambda c: couplings.build("gatedgcn", c),
    "GMMConv, 5 kernels": lambda c: pyg.GMMConv(c, c, dim=2, kernel_size=5),
    "ChebConv, K = 5": lambda c: pyg.ChebConv(c, c, K=5),
}


def main() -> None:
    options = _options()
    print("| layer | " + " | ".join(SIZES) + " |\n|---|" + "---:|" * len(SIZES))
    for name, build in LAYERS.items():
        if any(part.lower() in name.lower() for part in options.only.split(",")):
            cells = " | ".join(_cell(build, *size, options) for size in SIZES.values())
            print(f"| {name} | {cells} |", flush=True)


def _cell(build, nodes: int, edges: int, channels: int, options: argparse.Namespace) -> str:
    """The time of ours, and how many times as long the layer's own path takes."""
    torch.manual_seed(0)
    half = torch.randint(nodes, (2, edges // 2))
    edge_index, x = torch.cat([half, half.flip(0)], dim=1), torch.randn(nodes, channels)
    layers: list[Module] = [build(channels) for _ in range(options.steps if options.per_step else 1)]
    given = {"edge_attr": torch.rand(edges, 2)} if isinstance(layers[0], pyg.GMMConv) else {}
    network = GraphCON(layers if options.per_step else layers[0], options.steps, memory="store")

    def step() -> float:
        network.zero_grad()
        start = time.perf_counter()
        network(x, edge_index, **given).square().mean().backward()
        return time.perf_counter() - start

    step()
    ours, own = [], []
    for _ in range(options.rounds):
        ours.append(step())
        with kernels.disabled():
            own.append(step())
    return f"{1e3 * min(ours):.1f} ms, {min(own) / min(ours):.1f}×"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="layers whose name has one of these parts, with commas between")
    parser.add_argument("--per-step", action="store_true", help="a layer for each step in place of one for all")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=9)
    return parser.parse_args()


if __name__ == "__main__":
    main()
