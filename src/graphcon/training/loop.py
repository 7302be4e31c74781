"""The training loop: one, for every task.

A run that is stopped at any moment and resumed gives the bits of an undisturbed one. For that, all randomness of an
epoch is drawn from (seed, epoch), and what is kept between batches is kept in one checkpoint.
"""

import copy
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, cast

import torch
from lightning_fabric import Fabric
from torch import Tensor
from torch.nn import Module

from graphcon.data import GraphDataset
from graphcon.errors import InputError, LossError
from graphcon.training import metrics as measures
from graphcon.training.batches import Batches, mix
from graphcon.training.config import Recipe, TrainerConfig
from graphcon.training.folder import RunFolder
from graphcon.training.interrupt import stop_requested
from graphcon.training.schedule import Schedule, build_optimizer
from graphcon.training.spec import TaskSpec, training_targets

#: What helps where a loss becomes infinite.
TAMED = "Smaller optimizer.lr, optimizer.clip = 1.0, more damping model.alpha or smaller model.dt tame it"


class Reporter(Protocol):
    """Whom the loop tells how it goes."""

    def epoch(self, record: dict[str, Any]) -> None:
        """Called after every epoch with what the log holds of it."""

    def running(self, record: dict[str, Any]) -> None:
        """Called between the batches of an epoch: its epoch is how many are done, with a fraction of the next."""


@dataclass
class Progress:
    """What is kept between batches, beside the model and the optimiser.

    Attributes:
        epoch: How many epochs are done.
        best_epoch: The one that was best on validation.
        best_value: Its metric.
        seconds: How long all took.
        best: The weights of that epoch.
        batch: How many batches of the running epoch are done.
        loss: The sum of their losses.
        answers: How many answers had a part in them.
        random: The state of torch's random numbers after them.
    """

    epoch: int = 0
    best_epoch: int = 0
    best_value: float | None = None
    seconds: float = 0.0
    best: dict[str, Tensor] = field(default_factory=dict)
    batch: int = 0
    loss: float = 0.0
    answers: int = 0
    random: list[Tensor] = field(default_factory=list)

    @property
    def mean_loss(self) -> float:
        """The mean loss of the running epoch so far."""
        return self.loss / max(self.answers, 1)

    def told(self, of: int) -> dict[str, Any]:
        """What there is to tell between the batches of an epoch, of which there are so many."""
        return {"epoch": self.epoch + self.batch / of, "loss": self.mean_loss, "seconds": self.seconds}

    def end_epoch(self) -> None:
        """The running epoch is done."""
        self.epoch += 1
        self.begin_epoch()

    def begin_epoch(self) -> None:
        """Nothing of the running epoch is done."""
        self.batch, self.loss, self.answers, self.random = 0, 0.0, 0, []


@dataclass(frozen=True)
class Fitted:
    """How a training ended; the model holds its best weights."""

    epochs: int
    best_epoch: int
    metric: str
    value: float | None
    seconds: float
    stopped: str  # why: epochs, patience, learning rate, interrupted, pruned


def fit_loop(
    model: Module,
    dataset: GraphDataset,
    spec: TaskSpec,
    recipe: Recipe,
    fabric: Fabric,
    folder: RunFolder | None = None,
    reporter: Reporter | None = None,
    prune: Callable[[int, float], bool] | None = None,
) -> Fitted:
    """Trains a model and leaves the weights in it that were best on validation.

    Args:
        model: The model; its forward takes what :func:`graphcon.training.batches.apply` hands over.
        dataset: The data with their split; the test part is not touched.
        spec: The task.
        recipe: Optimiser, schedule, trainer and seed.
        fabric: Devices and precision.
        folder: Where the log and the checkpoints go; a training that is there is resumed.
        reporter: Whom to tell how it goes; of one that is the user's, its ``epoch`` is enough.
        prune: Asked after every validation whether to give up, with the epoch and the metric.
    """
    trainer = recipe.trainer
    metric = measures.choose_metric(spec, trainer.metric)
    batches = Batches(dataset, recipe.data, recipe.seed, fabric)
    optimizer = build_optimizer(recipe.optimizer, model)
    setup: Any = fabric.setup(model, optimizer)
    wrapped, optimizer = setup
    criterion = _criterion(dataset, spec, trainer, fabric)
    schedule = Schedule(recipe.schedule, optimizer, "min" if metric in measures.SMALLER_IS_BETTER else "max")
    # A validation costs a third of an epoch where the whole graph is trained at once.
    every = trainer.validate_every or (5 if dataset.split.unit == "node" else 1)
    quick = measures.build_quick(spec, metric).to(fabric.device)
    progress = _resume(folder, fabric, model, optimizer, schedule, batches)
    saved_at, began = time.monotonic(), time.monotonic() - progress.seconds
    running = getattr(reporter, "running", None) if fabric.is_global_zero else None
    stopped = _why_over(trainer, progress, schedule) if progress.epoch else "epochs"

    def save() -> None:
        nonlocal saved_at
        if folder is not None and fabric.is_global_zero:
            _save(folder, model, optimizer, schedule, batches, progress, fabric)
        saved_at = time.monotonic()

    while stopped == "epochs" and progress.epoch < trainer.epochs:
        wrapped.train()
        for _ in _train_epoch(wrapped, batches, criterion, optimizer, schedule, recipe, fabric, progress):
            progress.seconds = time.monotonic() - began
            if running is not None:
                running(progress.told(batches.count("train")))
            if fabric.world_size > 1:  # several processes save, stop and fail together, after an epoch
                continue
            if not math.isfinite(progress.loss):
                break
            if stop_requested():
                stopped = "interrupted"
                break
            if time.monotonic() - saved_at >= trainer.checkpoint_seconds:
                save()
        if stopped == "interrupted":
            save()
            break
        loss = _mean_of_all(fabric, progress.mean_loss)
        progress.end_epoch()
        record: dict[str, Any] = {"epoch": progress.epoch, "loss": loss, "lr": schedule.lr}
        if not math.isfinite(loss):
            raise LossError(f"the loss became {loss} in epoch {progress.epoch}. {TAMED}")
        last = progress.epoch == trainer.epochs
        if last and not batches.has("val") and not all(weight.isfinite().all() for weight in model.parameters()):
            raise LossError(f"the weights became infinite in the last epoch, {progress.epoch}. {TAMED}")
        if batches.has("val") and (progress.epoch % every == 0 or last):
            value = evaluate(wrapped, batches, spec, "val", quick)[metric]
            record["val"] = {metric: value}
            schedule.validated(value, progress.epoch)
            if measures.is_better(metric, value, progress.best_value):
                progress.best_epoch, progress.best_value = progress.epoch, value
                progress.best = {name: t.detach().clone() for name, t in model.state_dict().items()}
        progress.seconds = time.monotonic() - began
        record["seconds"] = round(progress.seconds, 3)
        if fabric.is_global_zero:
            if folder is not None:
                folder.log(record)
            if reporter is not None:
                reporter.epoch(record)
        if prune is not None and "val" in record and prune(progress.epoch, record["val"][metric]):
            stopped = "pruned"
        else:
            stopped = _why_over(trainer, progress, schedule)
            if stopped == "epochs" and _mean_of_all(fabric, stop_requested()):
                stopped = "interrupted"
        ended = stopped != "epochs" or last
        if ended or time.monotonic() - saved_at >= trainer.checkpoint_seconds:
            save()
        if ended:
            break

    if progress.best:
        model.load_state_dict(progress.best)
    return Fitted(progress.epoch, progress.best_epoch, metric, progress.best_value, progress.seconds, stopped)


def rehearse(model: Module, dataset: GraphDataset, spec: TaskSpec, recipe: Recipe, fabric: Fabric) -> None:
    """Takes a first step with a copy of the model: what does not fit together is told before anything is written.

    Compiled kernels are loaded on the way, so that the seconds of a first training are like those of the next.
    """
    measures.choose_metric(spec, recipe.trainer.metric)
    criterion = _criterion(dataset, spec, recipe.trainer, fabric)
    batch = next(Batches(dataset, replace(recipe.data, workers=0), recipe.seed, fabric).of("train"))
    model = copy.deepcopy(model).to(fabric.device).train()
    criterion(batch.run(model), batch.targets).backward()


def _why_over(trainer: TrainerConfig, progress: Progress, schedule: Schedule) -> str:
    """Why there is nothing more to learn; "epochs" where only their number ends the training."""
    if trainer.patience and progress.best_epoch and progress.epoch - progress.best_epoch >= trainer.patience:
        return "patience"
    return "learning rate" if schedule.exhausted else "epochs"


def _train_epoch(
    model: Module,
    batches: Batches,
    criterion: Callable[[Tensor, Tensor], Tensor],
    optimizer: Any,
    schedule: Schedule,
    recipe: Recipe,
    fabric: Fabric,
    progress: Progress,
) -> Iterator[None]:
    """Takes the running epoch to its end; yields between its batches."""
    of = batches.count("train")
    todo = batches.of("train", progress.epoch, progress.batch)
    if progress.batch:
        _set_random_state(fabric.device, progress.random)
    else:
        torch.manual_seed(mix(recipe.seed, progress.epoch))
    for batch in todo:
        schedule.set((progress.epoch + progress.batch / of) / recipe.trainer.epochs)
        optimizer.zero_grad()
        out = batch.run(model)
        loss = criterion(out, batch.targets)
        fabric.backward(loss)
        if recipe.optimizer.clip is not None:
            fabric.clip_gradients(model, optimizer, max_norm=recipe.optimizer.clip, error_if_nonfinite=False)
        optimizer.step()
        progress.batch += 1
        progress.loss, progress.answers = progress.loss + loss.item() * len(out), progress.answers + len(out)
        if progress.batch < of:
            yield


def _random_state(device: torch.device) -> list[Tensor]:
    """Where torch's random numbers are, on the processor and on the device."""
    own = [] if device.type == "cpu" else [torch.get_device_module(device).get_rng_state()]
    return [torch.get_rng_state(), *own]


def _set_random_state(device: torch.device, states: list[Tensor]) -> None:
    torch.set_rng_state(states[0])
    if device.type != "cpu" and len(states) > 1:  # a run may go on elsewhere than it was
        torch.get_device_module(device).set_rng_state(states[1])


def _mean_of_all(fabric: Fabric, value: float) -> float:
    """The mean over all processes: what one of them sees makes all stop, and none waits for another that has gone."""
    if fabric.world_size == 1:
        return value
    return float(cast(Tensor, fabric.all_reduce(torch.tensor(float(value)))))


@torch.no_grad()
def evaluate(model: Module, batches: Batches, spec: TaskSpec, part: str, metrics: Any) -> dict[str, float]:
    """The metrics of a model on a part."""
    model.eval()
    metrics.reset()
    for batch in batches.of(part):
        out = batch.run(model)
        measures.update(metrics, spec, out, batch.targets)
    return {name: float(value) for name, value in metrics.compute().items()}


def _criterion(
    dataset: GraphDataset, spec: TaskSpec, trainer: TrainerConfig, fabric: Fabric
) -> Callable[[Tensor, Tensor], Tensor]:
    if not trainer.class_weights:
        return measures.build_loss(spec, trainer.loss, None)
    if spec.kind != "classification":
        raise InputError(f"trainer.class_weights = true, but the target is for {spec.kind}: leave it out")
    weights = measures.balanced_weights(training_targets(dataset).long(), spec.num_outputs)
    return measures.build_loss(spec, trainer.loss, weights.to(fabric.device))


def _save(
    folder: RunFolder,
    model: Module,
    optimizer: Any,
    schedule: Schedule,
    batches: Batches,
    progress: Progress,
    fabric: Fabric,
) -> None:
    if progress.batch:
        progress.random = _random_state(fabric.device)
    folder.save_checkpoint(
        vars(progress)
        | {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "schedule": schedule.state_dict(),
            "batches": batches.state_dict(),
            "precision": fabric.strategy.precision.state_dict(),
        }
    )
    folder.save_weights(progress.best or model.state_dict())


def _resume(
    folder: RunFolder | None, fabric: Fabric, model: Module, optimizer: Any, schedule: Schedule, batches: Batches
) -> Progress:
    """What a checkpoint holds, put where it belongs; a fresh start where there is none."""
    state = folder.load_checkpoint() if folder is not None else None
    if state is None:
        if folder is not None and fabric.is_global_zero:
            folder.cut_log(0)
        return Progress()
    assert folder is not None
    try:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        batches.load_state_dict(state["batches"])
        fabric.strategy.precision.load_state_dict(state["precision"])
        progress = Progress(**{each.name: state[each.name] for each in fields(Progress)})
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        raise folder.unusable(error) from None
    if fabric.world_size > 1:  # one process has stopped within the epoch; shares of several begin it anew
        progress.begin_epoch()
    if fabric.is_global_zero:  # a stop may have come between the checkpoint and these
        folder.cut_log(progress.epoch)
        folder.save_weights(progress.best or model.state_dict())
    return progress
