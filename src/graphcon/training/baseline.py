"""The least a model must beat: an answer that never looks at the graph."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphcon.data import GraphDataset
from graphcon.training import metrics as measures
from graphcon.training.spec import TaskSpec, targets_of, training_targets


class Baseline(NamedTuple):
    """The constant answer that the training part alone suggests."""

    words: str
    metrics: dict[str, dict[str, float]]  # all of them, on validation and test


def baseline(dataset: GraphDataset, spec: TaskSpec, metric: str) -> Baseline:
    """The constant that is best by the metric that models are selected by."""
    words, answer = _constant(training_targets(dataset), spec, metric)
    result = {}
    for part in ("val", "test"):
        if len(getattr(dataset.split, part)):
            y = targets_of(dataset, part)
            collection = measures.build_metrics(spec)
            measures.update(collection, spec, answer.expand(len(y), -1), y)
            result[part] = {name: float(value) for name, value in collection.compute().items()}
    return Baseline(words, result)


def _constant(y: Tensor, spec: TaskSpec, metric: str) -> tuple[str, Tensor]:
    """The answer in words, and as a network would give it: scores of classes or labels, or values."""
    if spec.kind == "classification":
        return "always the most frequent class", torch.bincount(y, minlength=spec.num_outputs).float().log()
    values = y.float().reshape(-1, spec.num_outputs)
    if spec.kind == "multilabel":
        return "every label as often as in training", values.mean(0).logit(eps=1e-6)
    if metric == "mae":  # least far off by distances; torch would take the lower of two middle values
        return "always the median of training", torch.from_numpy(np.median(values.numpy(), axis=0))
    return "always the mean of training", values.mean(0)
