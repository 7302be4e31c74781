"""Sets that are made, not read, and can be named as those on disk are."""

import re
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.utils import scatter

from graphcon.data import _store, synthetic
from graphcon.data._dataset import GraphDataset
from graphcon.data._split import Split
from graphcon.errors import InputError

_TRANSFER = re.compile(r"graph-transfer-(path|ring|tree)-(\d+)")
_TOPOLOGY = Path("ppi_topology") / "ppi24_topology.npz"
_FEATURES, _LABELS = 50, 121


def make(name: str, root: str | Path | None, seed: int) -> GraphDataset | None:
    """The set of that name; None where it is none that is made."""
    if transfer := _TRANSFER.fullmatch(name):
        return synthetic.graph_transfer(int(transfer[2]), topology=transfer[1], seed=seed)
    return planted_proteins(root) if name == "ppi-planted" else None


def planted_proteins(root: str | Path | None) -> GraphDataset:
    r"""The 24 real protein graphs with features and labels that are made up, in the sizes of the real ones.

    A protein has 50 random features, the same in every tissue. Its 121 labels are the signs of random directions in
    :math:`x_v + 2\,\bar x_{N(v)} + 2\,\bar{\bar x}_{N(N(v))}`, means over one and two hops: to be learned exactly, from
    the graph and not from the protein alone. Results on it say that a recipe works at real size, and nothing of the
    real task.

    Args:
        root: Where the edges are looked for first, below it ``ppi_topology``.
    """
    file = next((place / _TOPOLOGY for place in _store.roots(root) if (place / _TOPOLOGY).is_file()), None)
    if file is None:
        raise InputError(
            f"ppi-planted: {_TOPOLOGY} is in none of {', '.join(map(str, _store.roots(root)))}. It holds the edges of "
            "the 24 protein graphs; put it there"
        )
    with np.load(file) as stored:
        genes, ends, edges, edge_ends, parts = (
            stored[key] for key in ("entrez_gene_id", "node_ptr", "edges_undirected_local", "edge_ptr", "split")
        )
    rng = np.random.default_rng(0)
    known, protein = np.unique(genes, return_inverse=True)
    features = torch.from_numpy(rng.normal(size=(len(known), _FEATURES)).astype(np.float32))[protein]
    directions = torch.from_numpy(rng.normal(size=(_FEATURES, _LABELS)).astype(np.float32))
    graphs = []
    for n in range(len(parts)):
        pairs = torch.from_numpy(edges[edge_ends[n] : edge_ends[n + 1]].astype(np.int64)).t()
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        x = features[ends[n] : ends[n + 1]]
        graphs.append(Data(x=x, edge_index=edge_index, y=_planted_labels(x, edge_index, directions)))
    index = [torch.from_numpy(np.flatnonzero(parts == part)) for part in ("train", "val", "test")]
    return GraphDataset(
        name="ppi-planted",
        graphs=graphs,
        task="node",
        kind="multilabel",
        num_outputs=_LABELS,
        num_features=_FEATURES,
        split=Split("published", *index, size=len(parts), unit="graph"),
        notes=("Real edges, made-up features and labels: says nothing of the real PPI.",),
    )


def _planted_labels(x: torch.Tensor, edge_index: torch.Tensor, directions: torch.Tensor) -> torch.Tensor:
    source, target = edge_index
    once = scatter(x[source], target, 0, len(x), "mean")
    twice = scatter(once[source], target, 0, len(x), "mean")
    return ((x + 2 * once + 2 * twice) @ directions > 0).float()
