"""Batches of a part: the whole graph with some of its nodes, or some of the graphs."""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import torch
from lightning_fabric import Fabric
from lightning_fabric.wrappers import is_wrapped
from torch import Tensor
from torch.nn import Module
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from graphcon._calling import arguments
from graphcon.data import GraphDataset


class Batch(NamedTuple):
    """What one forward pass works on, and which of its answers count."""

    data: Data
    index: Tensor | None  # None for all

    def select(self, values: Tensor) -> Tensor:
        """The answers or targets that count."""
        return values if self.index is None else values[self.index]

    @property
    def targets(self) -> Tensor:
        """The targets that count."""
        return self.select(cast(Tensor, self.data.y))


class Batches:
    """The batches of every part of a data set.

    Args:
        dataset: The data.
        batch_size: Graphs per batch, where whole graphs are split.
        workers: Processes that prepare batches.
        seed: Seed of the order of the training graphs; each epoch has its own order, whatever was done before.
        fabric: Moves batches to the device and divides them among processes.
    """

    def __init__(self, dataset: GraphDataset, batch_size: int, workers: int, seed: int, fabric: Fabric):
        self.dataset, self.seed = dataset, seed
        self._whole: Data | None = None
        self._loaders: dict[str, Any] = {}
        if dataset.split.unit == "node":
            self._whole = dataset.data.to(str(fabric.device))
            self._index = {part: index.to(fabric.device) for part, index in dataset.split.parts()}
            return
        self._order = torch.Generator()
        for part, index in dataset.split.parts():
            if len(index):
                loader = DataLoader(
                    dataset.part(part),  # pyright: ignore[reportArgumentType]  # a sequence of graphs is enough
                    batch_size=batch_size,
                    shuffle=part == "train",
                    num_workers=workers,
                    generator=self._order if part == "train" else None,
                    persistent_workers=workers > 0,
                )
                # Every process measures the whole of a part: shares of unequal size would bias the metrics.
                self._loaders[part] = fabric.setup_dataloaders(loader, use_distributed_sampler=part == "train")

    def has(self, part: str) -> bool:
        """Whether there is anything in a part."""
        return len(getattr(self.dataset.split, part)) > 0

    def count(self, part: str) -> int:
        """Batches of a part."""
        return 1 if self._whole is not None else len(self._loaders[part])

    def of(self, part: str, epoch: int = 0) -> Iterator[Batch]:
        """The batches of a part; those for training come in the order of the epoch."""
        if self._whole is not None:
            yield Batch(self._whole, self._index[part])
            return
        if part == "train":
            self._order.manual_seed(mix(self.seed, epoch))
            if hasattr(sampler := getattr(self._loaders[part], "sampler", None), "set_epoch"):
                sampler.set_epoch(epoch)  # pyright: ignore[reportOptionalMemberAccess]  # it has it
        for data in self._loaders[part]:
            yield Batch(data, None)


def apply(model: Module, data: Data) -> Tensor:
    """Calls a model with what its forward names: any of PyG's models, or one of ours."""
    own = cast(Module, model.module) if is_wrapped(model) else model  # Fabric's wrapper takes anything
    return model(**arguments(own, data))


def mix(seed: int, epoch: int) -> int:
    """A seed for an epoch: far apart for seeds and epochs that are close together."""
    return (seed * 0x9E3779B97F4A7C15 + epoch * 0xD1B54A32D192ED03 + 0x632BE59BD9B4E019) % (1 << 63)
