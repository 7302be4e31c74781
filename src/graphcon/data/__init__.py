"""Graphs to train on: named sets with their protocols, people's own tables, graphs with a known answer.

>>> from graphcon import data
>>> cora = data.load("cora")
>>> cora.data.num_nodes, cora.split.train.numel()
(2485, 140)
"""

from graphcon.data import splits
from graphcon.data._dataset import GraphDataset, GraphView
from graphcon.data._split import Split
from graphcon.data.catalogue import NamedSet, describe, names
from graphcon.data.named import load
from graphcon.data.protocols import PROTOCOLS, Protocol
from graphcon.data.statistics import Statistics, edge_homophily, node_homophily, statistics

__all__ = [
    "PROTOCOLS",
    "GraphDataset",
    "GraphView",
    "NamedSet",
    "Protocol",
    "Split",
    "Statistics",
    "describe",
    "edge_homophily",
    "load",
    "names",
    "node_homophily",
    "splits",
    "statistics",
]
