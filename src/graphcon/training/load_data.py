"""The data a recipe asks for."""

import dataclasses
from collections.abc import Sequence

import torch
from torch_geometric.data import Data

from graphcon import data
from graphcon.data import GraphDataset, Split, TableSchema
from graphcon.errors import InputError
from graphcon.training.config import DataConfig

#: Fields that say how batches are made of what was read.
_BATCHES = ("batch_size", "batching", "clusters", "clusters_per_batch", "neighbors", "workers")


def what_is_read(config: DataConfig) -> DataConfig:
    """The same for all that :func:`load_dataset` reads the same for, however batches are made of it."""
    usual = DataConfig()
    return dataclasses.replace(config, **{name: getattr(usual, name) for name in _BATCHES})


def load_dataset(config: DataConfig, *, with_test: bool = True) -> tuple[GraphDataset, TableSchema | None]:
    """The data of a recipe and, for own tables, the schema to read new ones by.

    Args:
        config: Which data.
        with_test: Whether the test part is there; a search works without.
    """
    if config.name is None and config.nodes is None and config.edges is None:
        raise InputError("no data: name a recipe (see: graphcon recipes), a set with --data.name, or own tables")
    if config.table.seed:
        raise InputError(
            f"data.table.seed = {config.table.seed}: say data.split (--split) in its place, the seed of a split"
        )
    dataset, schema = data.open_data(
        config.name,
        nodes=config.nodes,
        edges=config.edges,
        graphs=config.graphs,
        options=dataclasses.replace(config.table, seed=config.split),
        root=config.root,
        protocol=config.protocol,
    )
    if config.normalize:
        dataset = _normalized(dataset)
    if config.limit is not None:
        dataset = _limited(dataset, config.limit)
    return (dataset if with_test else _without_test(dataset)), schema


def _normalized(dataset: GraphDataset) -> GraphDataset:
    graphs = []
    for graph in dataset.graphs:
        if graph.x is None or not graph.x.is_floating_point():
            raise InputError(f"data.normalize = true, but {dataset.name} has no numbers to divide by their sum")
        graphs.append(divided(graph))
    return dataclasses.replace(dataset, graphs=graphs)


def divided(graph: Data) -> Data:
    """The graph with the numbers of every node divided by their sum, as ``data.normalize`` asks for."""
    graph = graph.clone()
    assert isinstance(graph.x, torch.Tensor)
    graph.x = graph.x / graph.x.sum(-1, keepdim=True).clamp(min=1.0)
    return graph


def _limited(dataset: GraphDataset, limit: int) -> GraphDataset:
    split = dataset.split
    if split.unit == "node":
        raise InputError(f"data.limit = {limit}, but {dataset.name} is one graph, which is trained whole: leave it out")
    parts = (split.train[:limit], split.val[:limit], split.test[:limit])
    fewer = Split(f"{split.name}, {limit} of every part", *parts, split.size, split.unit, split.seed)
    return dataclasses.replace(dataset, split=fewer)


def _without_test(dataset: GraphDataset) -> GraphDataset:
    """The same data with an empty test part, and without the targets of it: they cannot be looked at by mistake."""
    split, nothing = dataset.split, torch.empty(0, dtype=torch.long)
    bare = Split(split.name, split.train, split.val, nothing, split.size, split.unit, split.seed)
    graphs = [_blank(dataset.data, split.test)] if split.unit == "node" else _Hidden(dataset.graphs, split.test)
    return dataclasses.replace(dataset, graphs=graphs, split=bare, splitter=None)


class _Hidden(Sequence[Data]):
    """Graphs, some of them without their targets; each is made when it is asked for."""

    def __init__(self, graphs: Sequence[Data], hidden: torch.Tensor):
        self.graphs, self.hidden = graphs, frozenset(hidden.tolist())

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, place: int) -> Data:  # pyright: ignore[reportIncompatibleMethodOverride]  # no slices
        graph = self.graphs[place]
        return _blank(graph, None) if place % len(self) in self.hidden else graph


def _blank(graph: Data, index: torch.Tensor | None) -> Data:
    graph = graph.clone()
    assert isinstance(graph.y, torch.Tensor)
    nothing = float("nan") if graph.y.is_floating_point() else -1
    if index is None:
        graph.y = torch.full_like(graph.y, nothing)
    else:
        graph.y[index] = nothing
    return graph
