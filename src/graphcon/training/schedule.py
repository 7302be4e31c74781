"""Learning rates over the course of a training."""

import math
from typing import Any

from torch.nn import Module
from torch.optim import SGD, Adam, Adamax, AdamW, Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau

from graphcon.errors import InputError
from graphcon.models import GraphNet
from graphcon.training.config import OptimizerConfig, ScheduleConfig


def build_optimizer(config: OptimizerConfig, model: Module) -> Optimizer:
    """The optimiser of a recipe for the weights of a model."""
    if config.name == "sgd":
        return SGD(_groups(config, model), config.lr, config.momentum, weight_decay=config.weight_decay)
    method = {"adam": Adam, "adamw": AdamW, "adamax": Adamax}[config.name]
    return method(_groups(config, model), config.lr, weight_decay=config.weight_decay)


def _groups(config: OptimizerConfig, model: Module) -> list[dict[str, Any]]:
    """All weights, or those between encoder and decoder by themselves where they decay in another way."""
    if config.core_weight_decay is None:
        return [{"params": list(model.parameters())}]
    cores = [module.core for module in model.modules() if isinstance(module, GraphNet)]
    inside = {id(parameter): parameter for core in cores for parameter in core.parameters()}
    if not inside:
        raise InputError(
            f"optimizer.core_weight_decay = {config.core_weight_decay:g}, but the model has no weights between encoder "
            "and decoder: leave it out"
        )
    outside = [parameter for parameter in model.parameters() if id(parameter) not in inside]
    core = {"params": list(inside.values()), "weight_decay": config.core_weight_decay}
    return [{"params": outside}, core] if outside else [core]


class Schedule:
    """Sets the learning rate from how far the training is; only `plateau` has a memory.

    Args:
        config: The schedule.
        optimizer: Whose learning rate it sets.
        mode: ``min`` or ``max``: which way the validation metric improves.
    """

    def __init__(self, config: ScheduleConfig, optimizer: Optimizer, mode: str):
        self.config, self.optimizer = config, optimizer
        self.peak = optimizer.param_groups[0]["lr"]
        self.plateau = None
        if config.name == "plateau":
            self.plateau = ReduceLROnPlateau(
                optimizer,
                mode,  # pyright: ignore[reportArgumentType]  # min or max
                factor=config.factor,
                patience=config.patience,
                min_lr=config.min_lr,
            )

    @property
    def lr(self) -> float:
        """The learning rate now."""
        return self.optimizer.param_groups[0]["lr"]

    @property
    def exhausted(self) -> bool:
        """Whether plateau has come down to its smallest rate."""
        return self.plateau is not None and self.lr <= self.config.min_lr * (1 + 1e-9)

    def set(self, done: float) -> None:
        """Sets the rate of `cosine` and `one-cycle`, after a share of the training."""
        if self.config.name in ("cosine", "one-cycle"):
            rate = _rate(self.config, self.peak, done)
            for group in self.optimizer.param_groups:
                group["lr"] = rate

    def validated(self, value: float, epoch: int) -> None:
        """Tells `plateau` the validation metric after an epoch."""
        if self.plateau is not None:
            # It takes every call for an epoch; those since the last validation have been no better either.
            self.plateau.num_bad_epochs += epoch - self.plateau.last_epoch - 1
            self.plateau.step(value)
            self.plateau.last_epoch = epoch

    def state_dict(self) -> dict:
        """What going on needs."""
        return {} if self.plateau is None else self.plateau.state_dict()

    def load_state_dict(self, state: dict) -> None:
        """Goes on from there."""
        if self.plateau is not None and state:
            self.plateau.load_state_dict(state)


def _rate(config: ScheduleConfig, peak: float, done: float) -> float:
    low = min(config.min_lr, peak)
    if config.name == "one-cycle" and done < config.warmup:
        start = peak / 25
        return start + (peak - start) * _half_cosine(done / config.warmup)
    rest = done if config.name == "cosine" else (done - config.warmup) / max(1 - config.warmup, 1e-9)
    return low + (peak - low) * (1 - _half_cosine(min(rest, 1.0)))


def _half_cosine(share: float) -> float:
    """From 0 to 1, smoothly."""
    return (1 - math.cos(math.pi * share)) / 2
