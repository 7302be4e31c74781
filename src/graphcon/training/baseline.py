"""The least a model must beat: an answer that never looks at the graph."""

import torch
from torch import Tensor

from graphcon.data import GraphDataset
from graphcon.training import metrics as measures
from graphcon.training.spec import TaskSpec, targets_of, training_targets

NAMES = {
    "classification": "always the most frequent class",
    "multilabel": "every label as often as in training",
    "regression": "always the mean of training",
}


def baseline(dataset: GraphDataset, spec: TaskSpec) -> dict[str, dict[str, float]]:
    """All metrics, on validation and test, of the constant answer that the training part alone suggests."""
    answer = _constant(training_targets(dataset), spec)
    result = {}
    for part in ("val", "test"):
        if len(getattr(dataset.split, part)):
            y = targets_of(dataset, part)
            collection = measures.build_metrics(spec)
            measures.update(collection, spec, answer.expand(len(y), -1), y)
            result[part] = {name: float(value) for name, value in collection.compute().items()}
    return result


def _constant(y: Tensor, spec: TaskSpec) -> Tensor:
    """The answer as a network would give it: scores of classes or labels, or values."""
    if spec.kind == "classification":
        return torch.bincount(y, minlength=spec.num_outputs).float().log()
    values = y.float().reshape(-1, spec.num_outputs)
    return values.mean(0).logit(eps=1e-6) if spec.kind == "multilabel" else values.mean(0)
