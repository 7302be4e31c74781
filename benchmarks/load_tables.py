"""How long own tables take to load: one million nodes and ten million edges by default, as CSV and as
Parquet.

    python benchmarks/load_tables.py --nodes 1000000 --edges 10000000

Prints seconds and the peak of memory; the tables are made first, in a temporary folder, and not counted.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from graphcon.data import read_tables


def make(folder: Path, num_nodes: int, num_edges: int, ids: str) -> None:
    """Writes a node table of eight columns and an edge table of three, each as CSV and as Parquet."""
    rng = np.random.default_rng(0)
    keys = (
        rng.permutation(num_nodes) * 7 + 3 if ids == "integers" else np.array([f"n{i:08d}" for i in range(num_nodes)])
    )
    nodes = pl.DataFrame(
        {
            "id": keys,
            **{f"f{i}": rng.normal(size=num_nodes).round(4) for i in range(4)},
            "colour": rng.choice(["red", "green", "blue"], num_nodes),
            "active": rng.random(num_nodes) < 0.5,
            "label": rng.choice(["a", "b", "c", "d"], num_nodes),
        }
    )
    ends = rng.integers(0, num_nodes, (2, num_edges))
    edges = pl.DataFrame({"source": keys[ends[0]], "target": keys[ends[1]], "weight": rng.random(num_edges).round(3)})
    for name, frame in (("nodes", nodes), ("edges", edges)):
        frame.write_csv(folder / f"{name}.csv")
        frame.write_parquet(folder / f"{name}.parquet")


def main() -> None:
    """Makes the tables, loads them, prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--ids", choices=["integers", "texts"], default="integers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, options.nodes, options.edges, options.ids)
        for ending in ("csv", "parquet"):
            start = time.perf_counter()
            dataset, _ = read_tables(folder / f"nodes.{ending}", folder / f"edges.{ending}", target="label")
            seconds = time.perf_counter() - start
            size = sum((folder / f"{table}.{ending}").stat().st_size for table in ("nodes", "edges")) / 1e6
            print(f"{ending}: {seconds:.1f} s for {size:.0f} MB, {dataset.data}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory: {peak:.1f} GB")


if __name__ == "__main__":
    main()
