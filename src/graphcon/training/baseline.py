"""The least a model must beat: an answer that never looks at the graph."""

import numpy as np
import torch
from torch import Tensor

from graphcon.data import GraphDataset
from graphcon.training import metrics as measures
from graphcon.training.spec import TaskSpec, targets_of, training_targets


def describe(spec: TaskSpec, metric: str) -> str:
    """The constant answer in words."""
    if spec.kind == "classification":
        return "always the most frequent class"
    if spec.kind == "multilabel":
        return "every label as often as in training"
    return f"always the {_centre(metric)} of training"


def baseline(dataset: GraphDataset, spec: TaskSpec, metric: str) -> dict[str, dict[str, float]]:
    """All metrics, on validation and test, of the constant answer that the training part alone suggests.

    Args:
        dataset: The data.
        spec: The task.
        metric: What models are selected by: of the constants, the one that is best by it is taken.
    """
    answer = _constant(training_targets(dataset), spec, metric)
    result = {}
    for part in ("val", "test"):
        if len(getattr(dataset.split, part)):
            y = targets_of(dataset, part)
            collection = measures.build_metrics(spec)
            measures.update(collection, spec, answer.expand(len(y), -1), y)
            result[part] = {name: float(value) for name, value in collection.compute().items()}
    return result


def _centre(metric: str) -> str:
    """The number that is least far off: the mean by squared distances, the median by distances."""
    return "median" if metric == "mae" else "mean"


def _constant(y: Tensor, spec: TaskSpec, metric: str) -> Tensor:
    """The answer as a network would give it: scores of classes or labels, or values."""
    if spec.kind == "classification":
        return torch.bincount(y, minlength=spec.num_outputs).float().log()
    values = y.float().reshape(-1, spec.num_outputs)
    if spec.kind == "multilabel":
        return values.mean(0).logit(eps=1e-6)
    # Torch takes the lower of two middle values for the median.
    return torch.from_numpy(np.median(values.numpy(), axis=0)) if _centre(metric) == "median" else values.mean(0)
