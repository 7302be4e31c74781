"""Peak activation memory of one training step against depth: `store`, `checkpoint`, and plain loops over the layer.

    python benchmarks/memory.py
    python benchmarks/memory.py --depths 2 64 256 --nodes 20000 --channels 64 --coupling gat

Every figure comes from a process of its own: the peak of its resident memory during one forward and backward pass,
less what was resident just before (the graph, the features, the weights, torch itself). The loops are what one would
write by hand around the same PyG layer: `stack` is a plain GNN, x = relu(conv(x)); `loop` is the oscillator.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import time

MODES = ("stack", "loop", "store", "checkpoint")


def main() -> None:
    options = _options()
    if options.measure:
        print(*_measure(options))
        return
    print(f"{options.coupling}, {options.nodes} nodes, {options.edges} edges, {options.channels} channels")
    print(f"{'depth':>6} " + " ".join(f"{mode + ' MB':>14}" for mode in MODES) + f" {'checkpoint/loop':>16} seconds")
    for depth in options.depths:
        results = [_in_own_process(options, mode, depth) for mode in MODES]
        megabytes = [result[0] for result in results]
        ratio = megabytes[3] / megabytes[1]
        seconds = " ".join(f"{result[1]:.2f}" for result in results)
        print(
            f"{depth:>6} " + " ".join(f"{value:>14.1f}" for value in megabytes) + f" {ratio:>16.3f} {seconds}",
            flush=True,
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depths", type=int, nargs="+", default=[2**k for k in range(1, 11)])
    parser.add_argument("--coupling", choices=["gcn", "gat"], default="gcn")
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--edges", type=int, default=40_000)
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--measure", choices=MODES, help=argparse.SUPPRESS)
    parser.add_argument("--depth", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_own_process(options: argparse.Namespace, mode: str, depth: int) -> tuple[float, float]:
    command = [sys.executable, __file__, "--measure", mode, "--depth", str(depth), "--coupling", options.coupling]
    command += ["--nodes", str(options.nodes), "--edges", str(options.edges), "--channels", str(options.channels)]
    # Every tensor gets pages of its own, given back when it is freed: the resident size is then what is in use.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    megabytes, seconds = done.stdout.split()
    return float(megabytes), float(seconds)


def _measure(options: argparse.Namespace) -> tuple[float, float]:
    import torch
    from torch_geometric.nn import GATConv, GCNConv

    from graphcon import GraphCON, kernels

    torch.manual_seed(0)
    channels = options.channels
    conv = GCNConv(channels, channels) if options.coupling == "gcn" else GATConv(channels, channels // 4, heads=4)
    edge_index = torch.randint(options.nodes, (2, options.edges))
    x = torch.randn(options.nodes, channels)

    def stack(x: torch.Tensor, edge_index: torch.Tensor, depth: int) -> torch.Tensor:
        for _ in range(depth):
            x = conv(x, edge_index).relu()
        return x

    def loop(x: torch.Tensor, edge_index: torch.Tensor, depth: int) -> torch.Tensor:
        y = x
        for _ in range(depth):
            y = y + 0.5 * (conv(x, edge_index).relu() - 1.0 * x - 0.5 * y)
            x = x + 0.5 * y
        return x

    def run(depth: int) -> None:
        if options.measure in ("stack", "loop"):
            out = (stack if options.measure == "stack" else loop)(x, edge_index, depth)
        else:
            out = GraphCON(conv, depth, memory=options.measure)(x, edge_index)
        out.square().mean().backward()

    run(1)  # what is allocated once, threads and libraries, is there before the measurement
    kernels.free_memory()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    before = _resident_megabytes()
    _reset_peak()
    start = time.perf_counter()
    run(options.depth)
    return _peak_megabytes() - before, time.perf_counter() - start


def _reset_peak() -> None:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _peak_megabytes() -> float:
    return _status("VmHWM")


def _resident_megabytes() -> float:
    return _status("VmRSS")


def _status(key: str) -> float:
    with open("/proc/self/status") as file:
        return next(float(line.split()[1]) / 1024 for line in file if line.startswith(key))


if __name__ == "__main__":
    main()
