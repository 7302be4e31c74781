"""Cluster-GCN: one large graph trained in groups of its clusters."""

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import coalesce, remove_self_loops, to_undirected

from graphcon.errors import InputError
from graphcon.training.batches import Batch, generator


class ClusterBatches:
    r"""The batches of `"Cluster-GCN" <https://arxiv.org/abs/1905.07953>`_.

    METIS divides the graph into clusters with few edges between them, once. In every epoch the clusters are dealt into
    groups at random; a batch is the subgraph on the clusters of a group, with the edges between them.

    Args:
        data: The graph.
        train: The nodes that count in training.
        clusters: How many clusters.
        per_batch: How many of them make a batch.
        seed: Seed of the groups.
    """

    def __init__(self, data: Data, train: Tensor, clusters: int, per_batch: int, seed: int):
        nodes = cast(int, data.num_nodes)
        if not 1 <= per_batch <= clusters <= nodes:
            raise InputError(
                f"data.clusters = {clusters}, data.clusters_per_batch = {per_batch}: of {nodes} nodes, between 1 and "
                f"{nodes} clusters can be made, and between 1 and all of them make a batch"
            )
        self.data, self.clusters, self.per_batch, self.seed = data, clusters, per_batch, seed
        self.cluster = partition(cast(Tensor, data.edge_index), nodes, clusters)
        self.counts = torch.zeros(nodes, dtype=torch.bool, device=train.device)
        self.counts[train] = True

    def __len__(self) -> int:
        """Batches of an epoch."""
        return -(-self.clusters // self.per_batch)

    def of(self, epoch: int) -> Iterator[Batch]:
        """The batches of an epoch; a group without a node that counts is left out."""
        order = torch.randperm(self.clusters, generator=generator(self.seed, epoch))
        for group in order.split(self.per_batch):
            nodes = torch.isin(self.cluster, group).nonzero().squeeze(1).to(self.counts.device)
            index = self.counts[nodes].nonzero().squeeze(1)
            if len(index):
                yield Batch(self.data.subgraph(nodes), index)

    def state_dict(self) -> dict[str, Tensor]:
        """Nothing is kept between epochs."""
        return {}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Nothing is kept between epochs."""


def partition(edge_index: Tensor, nodes: int, clusters: int) -> Tensor:
    """The cluster of every node, ``[nodes]``, by METIS: clusters of about one size with few edges between them.

    Raises:
        InputError: pymetis is not installed.
    """
    try:
        import pymetis
    except ImportError:
        raise InputError(
            "data.batching = 'cluster-gcn' needs pymetis, which is not installed. "
            "Install it with: pip install 'graphcon[scale]'"
        ) from None
    if clusters == 1:
        return torch.zeros(nodes, dtype=torch.long)
    edges, _ = remove_self_loops(edge_index.cpu())
    source, target = coalesce(to_undirected(edges, num_nodes=nodes), num_nodes=nodes)
    starts = torch.cat([torch.zeros(1, dtype=torch.long), torch.bincount(source, minlength=nodes).cumsum(0)])
    found = pymetis.part_graph(clusters, pymetis.CSRAdjacency(starts.tolist(), target.tolist()))
    return torch.tensor(found.vertex_part)
