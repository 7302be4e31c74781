"""Batches of a part: the whole graph with some of its nodes, a piece of it, or some of the graphs."""

from collections.abc import Iterator
from copy import copy
from itertools import islice
from typing import Any, NamedTuple, Protocol, cast

import torch
from lightning_fabric import Fabric
from lightning_fabric.wrappers import is_wrapped
from torch import Tensor
from torch.nn import Module
from torch.utils.data import DistributedSampler, Sampler
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from graphcon._calling import arguments, inside
from graphcon.data import GraphDataset
from graphcon.errors import InputError
from graphcon.training.config import DataConfig
from graphcon.training.spec import has_target


class Batch(NamedTuple):
    """What one forward pass works on, and which of its answers count."""

    data: Data
    index: Tensor | None  # numbers or a mask; None for all

    def select(self, values: Tensor) -> Tensor:
        """The answers or targets that count."""
        return values if self.index is None else values[self.index]

    @property
    def targets(self) -> Tensor:
        """The targets that count."""
        return self.select(cast(Tensor, self.data.y))

    def run(self, model: Module) -> Tensor:
        """The answers that count."""
        out, y = apply(model, self.data), cast(Tensor, self.data.y)
        if out.dim() == 0 or len(out) != len(y):
            raise InputError(
                f"the model answers with shape {list(out.shape)}, but there are {len(y)} targets, one for each "
                f"{'graph' if len(y) != self.data.num_nodes else 'node'}: it must answer each with a row, as "
                "GraphCONNet does with task='node' or task='graph'"
            )
        return self.select(out)


class Pieces(Protocol):
    """A way to train one graph piece by piece."""

    def __len__(self) -> int: ...
    def of(self, epoch: int) -> Iterator[Any]: ...
    def state_dict(self) -> dict[str, Tensor]: ...
    def load_state_dict(self, state: dict[str, Tensor]) -> None: ...


class Batches:
    """The batches of every part of a data set.

    Args:
        dataset: The data.
        config: How many graphs make a batch and who prepares them, or how one graph is trained piece by piece.
        seed: Seed of the order of the training graphs; each epoch has its own order, whatever was done before.
        fabric: Moves batches to the device and divides them among processes.
    """

    def __init__(self, dataset: GraphDataset, config: DataConfig, seed: int, fabric: Fabric):
        self.dataset, self.seed, self.fabric = dataset, seed, fabric
        self._whole: Data | None = None
        self._pieces: Pieces | None = None
        self._loaders: dict[str, DataLoader] = {}
        self._order: _Order | None = None
        self._share: DistributedSampler | None = None
        if dataset.split.unit == "node":
            self._whole = copy(dataset.data).to(str(fabric.device))  # PyG moves a graph in place, and it is the user's
            self._index = {part: index.to(fabric.device) for part, index in dataset.split.parts()}
            self._pieces = _pieces(self._whole, self._index["train"], config, seed)
            return
        if config.batching != "whole":
            raise InputError(
                f"data.batching = {config.batching!r}, but {dataset.name} is many graphs, which make batches as they "
                "are: leave it out"
            )
        for part, index in dataset.split.parts():
            if len(index):
                graphs: Any = dataset.part(part)  # a sequence of graphs is enough
                # Every process measures the whole of a part: shares of unequal size would bias the metrics.
                if part == "train" and fabric.world_size > 1:
                    self._share = DistributedSampler(graphs, fabric.world_size, fabric.global_rank)
                elif part == "train":
                    self._order = _Order(len(index), config.batch_size, seed)
                self._loaders[part] = DataLoader(
                    graphs,
                    batch_size=config.batch_size,
                    sampler=(self._order or self._share) if part == "train" else None,
                    num_workers=config.workers,
                    generator=torch.Generator(),  # what it draws for its workers is nobody's dropout
                    persistent_workers=config.workers > 0,
                )

    def has(self, part: str) -> bool:
        """Whether there is anything in a part."""
        return len(getattr(self.dataset.split, part)) > 0

    def count(self, part: str) -> int:
        """Batches of a part."""
        if part == "train" and self._pieces is not None:
            return len(self._pieces)
        return 1 if self._whole is not None else len(self._loaders[part])

    def state_dict(self) -> dict[str, Tensor]:
        """What the next batches depend on, beside the seed."""
        return {} if self._pieces is None else self._pieces.state_dict()

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Takes up what :meth:`state_dict` told."""
        if self._pieces is not None:
            self._pieces.load_state_dict(state)

    def of(self, part: str, epoch: int = 0, first: int = 0) -> Iterator[Any]:
        """The batches of a part; those for training come in the order of the epoch, from the first that is wanted."""
        if part == "train" and self._pieces is not None:
            yield from islice(self._pieces.of(epoch), first, None)
            return
        if self._whole is not None:
            yield Batch(self._whole, self._index[part])
            return
        if part == "train" and self._order is not None:
            self._order.epoch, self._order.first = epoch, first
        if part == "train" and self._share is not None:  # Fabric's own counts the epochs anew in a run that goes on
            self._share.set_epoch(mix(self.seed, epoch))
        for graphs in self._loaders[part]:
            data: Any = self.fabric.to_device(graphs)
            there = has_target(data.y)
            yield Batch(data, None if there.all() else there)


class _Order(Sampler[int]):
    """The order of the training graphs in an epoch, from a batch on; the same for any number of workers.

    Args:
        size: Number of graphs.
        batch_size: How many of them make a batch.
        seed: Seed of the order.
    """

    def __init__(self, size: int, batch_size: int, seed: int):
        self.size, self.batch_size, self.seed = size, batch_size, seed
        self.epoch, self.first = 0, 0

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[int]:
        draw = generator(self.seed, self.epoch)
        torch.empty((), dtype=torch.int64).random_(generator=draw)  # the loader's own, where results were measured
        yield from torch.randperm(self.size, generator=draw)[self.first * self.batch_size :].tolist()


def _pieces(data: Data, train: Tensor, config: DataConfig, seed: int) -> Pieces | None:
    if config.batching == "cluster-gcn":
        from graphcon.training.clusters import ClusterBatches

        return ClusterBatches(data, train, config.clusters, config.clusters_per_batch, seed)
    if config.batching == "vr-gcn":
        from graphcon.training.history import HistoryBatches

        return HistoryBatches(data, train, config.batch_size, config.neighbors, seed)
    return None


def apply(model: Module, data: Data) -> Tensor:
    """Calls a model with what its forward names: any of PyG's models, or one of ours."""
    own = inside(unwrapped(model))
    out = model(**arguments(own, data))  # Fabric's wrapper takes anything
    if not isinstance(out, Tensor):
        raise InputError(
            f"{type(own).__name__} returns a {type(out).__name__}, but a model must return one tensor, its answers: "
            "return the rest by another method"
        )
    return out


def unwrapped(model: Module) -> Module:
    """The model itself, without Fabric's wrapper."""
    return cast(Module, model.module) if is_wrapped(model) else model


def generator(seed: int, epoch: int) -> torch.Generator:
    """Random numbers of an epoch, whatever was drawn before."""
    return torch.Generator().manual_seed(mix(seed, epoch))


def mix(seed: int, epoch: int) -> int:
    """A seed for an epoch: far apart for seeds and epochs that are close together."""
    return (seed * 0x9E3779B97F4A7C15 + epoch * 0xD1B54A32D192ED03 + 0x632BE59BD9B4E019) % (1 << 63)
