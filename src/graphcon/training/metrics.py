"""Losses and metrics by the kind of target, right across batches and processes."""

import math
import statistics
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F  # noqa: N812  # as PyTorch's own docs name it
import torchmetrics
from torch import Tensor
from torchmetrics import MeanMetric, Metric, MetricCollection
from torchmetrics.classification import MultilabelAUROC, MultilabelAveragePrecision
from torchmetrics.functional.classification import multilabel_auroc, multilabel_average_precision
from torchmetrics.utilities import dim_zero_cat

from graphcon.errors import InputError
from graphcon.training.spec import TaskSpec

#: Which metrics each kind of target has, the one that selects the model first.
METRICS = {
    "classification": ("accuracy", "f1", "auroc", "log_loss"),
    "multilabel": ("f1", "average_precision", "auroc", "log_loss"),
    "regression": ("mae", "rmse", "r2"),
}
LOSSES = {
    "classification": ("cross_entropy",),
    "multilabel": ("binary_cross_entropy",),
    "regression": ("l1", "l2", "huber"),
}
SMALLER_IS_BETTER = ("log_loss", "mae", "rmse")


def choose_metric(spec: TaskSpec, name: str | None, option: str = "trainer.metric") -> str:
    """The metric that selects the model, or whatever the option is for."""
    return _choose(option, METRICS[spec.kind], name, spec.kind)


def is_better(name: str, value: float, than: float | None) -> bool:
    """Whether a value of a metric beats another; anything beats nothing, and NaN beats nothing at all."""
    if value != value:
        return False
    return than is None or (value < than if name in SMALLER_IS_BETTER else value > than)


def direction(name: str) -> str:
    """In words, which way a metric improves."""
    return "lower is better" if name in SMALLER_IS_BETTER else "higher is better"


class AreaUnderCurve(MultilabelAUROC):
    """The area under the ROC curve of each class against all others, as a mean over the classes that have a curve.

    One that no case belongs to, or all do, has none; torchmetrics would count it as 0.
    """

    def update(self, preds: Tensor, target: Tensor) -> None:
        super().update(preds, target if target.dim() == 2 else F.one_hot(target, preds.size(-1)))

    def compute(self) -> Tensor:
        preds, target = dim_zero_cat(self.preds), dim_zero_cat(self.target)
        drawn = (target == 1).any(0) & (target == 0).any(0)
        if not drawn.any():
            return preds.new_tensor(math.nan)
        return multilabel_auroc(preds[:, drawn], target[:, drawn], int(drawn.sum()), validate_args=False)


class LogLoss(MeanMetric):
    """Minus the logarithm of the probability that was given to what is true, as a mean.

    Unlike the share of right answers it has no ties: among a few dozen cases it tells two models apart that are right
    equally often. What was held impossible counts as if it had had the smallest share that float32 can tell from none;
    a probability that is no number makes the mean none.
    """

    def __init__(self) -> None:
        super().__init__(nan_strategy="disable")  # or it would be left out, as if the others were all

    def update(self, preds: Tensor, target: Tensor) -> None:
        if target.dim() == 2:
            given = torch.where(target == 1, preds, 1 - preds)
        else:
            given = preds.gather(-1, target.unsqueeze(-1))
        super().update(-given.clamp(min=torch.finfo(torch.float32).eps).log())


class MeanPrecision(MultilabelAveragePrecision):
    """The average precision of each label, as a mean over the labels that some case has; torchmetrics counts 0 else."""

    def compute(self) -> Tensor:
        preds, target = dim_zero_cat(self.preds), dim_zero_cat(self.target)
        there = (target == 1).any(0)
        if not there.any():
            return preds.new_tensor(math.nan)
        return multilabel_average_precision(preds[:, there], target[:, there], int(there.sum()), validate_args=False)


class ExplainedShare(Metric):
    r"""The share :math:`R^2` of a target's variance that the answers explain, as a mean over the targets that vary.

    Answers and targets are kept and compared in double precision: torchmetrics' sums of squares lose a latitude's or a
    year's variance beside its size, and take the variance of small numbers for none.
    """

    preds: list[Tensor]
    target: list[Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.add_state("preds", default=[], dist_reduce_fx="cat")
        self.add_state("target", default=[], dist_reduce_fx="cat")

    def update(self, preds: Tensor, target: Tensor) -> None:
        self.preds.append(preds)
        self.target.append(target)

    def compute(self) -> Tensor:
        preds, target = (dim_zero_cat(part).cpu().double() for part in (self.preds, self.target))
        varies = target.amax(0) > target.amin(0)
        residual, total = ((target - around).square().sum(0) for around in (preds, target.mean(0)))
        return (1 - residual / total)[varies].mean()  # of none it is NaN


def mean_and_sd(values: Sequence[float]) -> tuple[float, float, int]:
    """Mean and standard deviation of the values that are numbers, and how many those are.

    A metric that a part does not define, as the area under the curve of a class that is not in it, is NaN.
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return math.nan, math.nan, 0
    mean = statistics.fmean(known)
    if not math.isfinite(mean):
        return mean, math.nan, len(known)
    return mean, statistics.stdev(known) if len(known) > 1 else 0.0, len(known)


def build_metrics(spec: TaskSpec) -> MetricCollection:
    """All metrics of a kind of target, to be fed batch by batch."""
    outputs = spec.num_outputs
    made: dict[str, Metric | MetricCollection] = {}
    if spec.kind == "classification":
        options = {"task": "multiclass", "num_classes": outputs, "validate_args": False}
        made["accuracy"] = torchmetrics.Accuracy(average="micro", **options)
        made["f1"] = torchmetrics.F1Score(average="macro", **options)
        made["auroc"] = AreaUnderCurve(outputs, validate_args=False)
        made["log_loss"] = LogLoss()
    elif spec.kind == "multilabel":
        options = {"task": "multilabel", "num_labels": outputs, "validate_args": False}
        made["f1"] = torchmetrics.F1Score(average="micro", **options)
        made["average_precision"] = MeanPrecision(outputs, validate_args=False)
        made["auroc"] = AreaUnderCurve(outputs, validate_args=False)
        made["log_loss"] = LogLoss()
    else:
        made["mae"] = torchmetrics.MeanAbsoluteError(num_outputs=1)
        made["rmse"] = torchmetrics.MeanSquaredError(squared=False)
        made["r2"] = ExplainedShare()
    return MetricCollection(made, compute_groups=False)


def build_quick(spec: TaskSpec, name: str) -> MetricCollection:
    """The one metric that selects the model: what is computed at every validation."""
    every = build_metrics(spec)
    chosen: dict[str, Metric | MetricCollection] = {name: every[name]}
    return MetricCollection(chosen, compute_groups=False)


def update(metrics: MetricCollection, spec: TaskSpec, out: Tensor, y: Tensor) -> None:
    """Feeds answers and targets, in the shape that each kind wants."""
    _check_outputs(out, spec)
    out = out.detach().float()
    if spec.kind == "classification":
        metrics.update(out.softmax(-1), y)
    elif spec.kind == "multilabel":
        metrics.update(out.sigmoid(), y.long())
    else:
        metrics.update(out.reshape(len(y), -1), y.reshape(len(y), -1).float())


def build_loss(spec: TaskSpec, name: str | None, class_weights: Tensor | None) -> Callable[[Tensor, Tensor], Tensor]:
    """The loss, a function of answers and targets."""
    loss = _loss(spec, name, class_weights)

    def checked(out: Tensor, y: Tensor) -> Tensor:
        _check_outputs(out, spec)
        return loss(out, y)

    return checked


def _check_outputs(out: Tensor, spec: TaskSpec) -> None:
    given = out.size(1) if out.dim() > 1 else 1
    if given != spec.num_outputs:
        what = "classes" if spec.kind == "classification" else "labels" if spec.kind == "multilabel" else "values"
        raise InputError(
            f"the model has {given} outputs, but the target has {spec.num_outputs} {what}: "
            f"build it with out_channels={spec.num_outputs}"
        )


def _loss(spec: TaskSpec, name: str | None, class_weights: Tensor | None) -> Callable[[Tensor, Tensor], Tensor]:
    chosen = _choose("trainer.loss", LOSSES[spec.kind], name, spec.kind)
    if chosen == "cross_entropy":
        return lambda out, y: F.cross_entropy(out, y, weight=class_weights)
    if chosen == "binary_cross_entropy":
        return lambda out, y: F.binary_cross_entropy_with_logits(out, y.to(out.dtype))
    measure = {"l1": F.l1_loss, "l2": F.mse_loss, "huber": F.smooth_l1_loss}[chosen]
    # In units of the spread, so that a learning rate means the same for every target.
    scale = torch.tensor(spec.std) if spec.std else torch.ones(1)
    return lambda out, y: measure(out / scale.to(out), y.reshape(out.shape).to(out.dtype) / scale.to(out))


def balanced_weights(y: Tensor, classes: int) -> Tensor:
    """Weights inverse to the share of each class, with mean one over the samples; 0 for a class without any."""
    counts = torch.bincount(y, minlength=classes).float()
    return torch.where(counts > 0, len(y) / (classes * counts.clamp(min=1)), torch.zeros(()))


def _choose(option: str, allowed: tuple[str, ...], name: str | None, kind: str) -> str:
    if name is None:
        return allowed[0]
    if name not in allowed:
        raise InputError(f"{option} = {name!r}, but the target is for {kind}: choose one of {', '.join(allowed)}")
    return name
