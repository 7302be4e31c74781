"""Graphs to train on: named sets with their protocols, people's own tables, graphs with a known answer.

>>> from graphcon import data
>>> cora = data.load("cora")
>>> cora.data.num_nodes, cora.split.train.numel()
(2485, 140)

What is here is imported when it is first used, so that a command that needs none of it starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphcon.data import convert, splits, superpixels, synthetic
    from graphcon.data._catalogue import NamedSet, describe, names
    from graphcon.data._dataset import GraphDataset, GraphView
    from graphcon.data._named import load
    from graphcon.data._options import TableOptions
    from graphcon.data._protocols import PROTOCOLS, Protocol
    from graphcon.data._source import open_data
    from graphcon.data._split import Split
    from graphcon.data._statistics import Statistics, statistics
    from graphcon.data.tables import NewData, TableSchema, read_tables
    from graphcon.diagnostics.homophily import edge_homophily, node_homophily

_MODULES = ("convert", "splits", "superpixels", "synthetic")
_HOMES = {
    "NamedSet": "_catalogue",
    "describe": "_catalogue",
    "names": "_catalogue",
    "GraphDataset": "_dataset",
    "GraphView": "_dataset",
    "load": "_named",
    "TableOptions": "_options",
    "PROTOCOLS": "_protocols",
    "Protocol": "_protocols",
    "open_data": "_source",
    "Split": "_split",
    "Statistics": "_statistics",
    "edge_homophily": "_statistics",
    "node_homophily": "_statistics",
    "statistics": "_statistics",
    "NewData": "tables",
    "TableSchema": "tables",
    "read_tables": "tables",
}

__all__ = [
    "PROTOCOLS",
    "GraphDataset",
    "GraphView",
    "NamedSet",
    "NewData",
    "Protocol",
    "Split",
    "Statistics",
    "TableOptions",
    "TableSchema",
    "convert",
    "describe",
    "edge_homophily",
    "load",
    "names",
    "node_homophily",
    "open_data",
    "read_tables",
    "splits",
    "statistics",
    "superpixels",
    "synthetic",
]


def __getattr__(name: str):
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
