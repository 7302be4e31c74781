"""What a model must know of its data: enough to build it, to read new data and to name its answers."""

from dataclasses import asdict, dataclass
from typing import Any, cast

import torch
from torch import Tensor

from graphcon.data import GraphDataset
from graphcon.data._dataset import has_target
from graphcon.data._kinds import Part


@dataclass(frozen=True)
class TaskSpec:
    """The shape of a task; JSON holds it whole.

    Attributes:
        task: node or graph.
        kind: classification, multilabel or regression.
        num_outputs: Classes, labels or values.
        num_features: Width of the numbers that go in.
        num_categories: Sizes of the columns of categories that go in.
        edge_dim: Width of the edge features.
        num_edge_categories: Sizes of the columns of edge categories.
        class_names: Names of the classes or labels.
        target_names: Names of the values.
        mean: Mean of every value over the training part, for regression.
        std: Standard deviation of every value over the training part, for regression.
    """

    task: str
    kind: str
    num_outputs: int
    num_features: int
    num_categories: tuple[int, ...] = ()
    edge_dim: int = 0
    num_edge_categories: tuple[int, ...] = ()
    class_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()

    @classmethod
    def of(cls, dataset: GraphDataset) -> "TaskSpec":
        """The spec of a data set; mean and spread of a regression target are learned on its training part."""
        mean, std = _spread(dataset) if dataset.kind == "regression" else ((), ())
        return cls(
            dataset.task,
            dataset.kind,
            dataset.num_outputs,
            dataset.num_features,
            tuple(dataset.num_categories),
            dataset.edge_dim,
            tuple(dataset.num_edge_categories),
            tuple(dataset.class_names),
            tuple(dataset.target_names),
            mean,
            std,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TaskSpec":
        """The spec that :meth:`to_dict` described."""
        tuples: dict[str, Any] = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return cls(**(values | tuples))


def training_targets(dataset: GraphDataset) -> Tensor:
    """The targets of the training part."""
    return targets_of(dataset, "train")


def targets_of(dataset: GraphDataset, part: Part) -> Tensor:
    """The targets of a part, without those that are missing."""
    targets = all_targets(dataset, part)
    return targets[has_target(targets)]


def all_targets(dataset: GraphDataset, part: Part) -> Tensor:
    """A row for everything in a part, also for what has no target."""
    if dataset.split.unit == "node":
        return cast(Tensor, dataset.data.y)[getattr(dataset.split, part)]
    return torch.cat([cast(Tensor, graph.y) for graph in dataset.part(part)])


def _spread(dataset: GraphDataset) -> tuple[tuple[float, ...], tuple[float, ...]]:
    values = training_targets(dataset).double().reshape(-1, dataset.num_outputs)
    std = values.std(0, correction=0)
    return tuple(values.mean(0).tolist()), tuple(torch.where(std > 0, std, 1.0).tolist())
