"""What a trial of a search comes to: the mean of trainings on several splits and seeds, on validation data."""

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch

from graphcon.data import GraphDataset
from graphcon.errors import InputError, LossError
from graphcon.training import metrics as measures
from graphcon.training import recipes
from graphcon.training.batches import mix
from graphcon.training.config import DataConfig, Recipe
from graphcon.training.load_data import load_dataset, what_is_read
from graphcon.training.loop import Reporter, fit_loop
from graphcon.training.model import build
from graphcon.training.run import make_fabric, measure
from graphcon.training.spec import TaskSpec

Stop = Callable[[int, float], bool]
#: How many other seeds the finalists are trained with, on every split.
FINAL_SEEDS = 3


@dataclass(frozen=True)
class Ended:
    """How a trial ended.

    Attributes:
        state: COMPLETE, PRUNED where it was not worth going on with, or FAIL where the loss became infinite or the
            validation part does not define the metric.
        value: What it came to, where it is complete.
        steps: What it had come to after an epoch, or after one of several trainings.
    """

    state: str
    value: float | None
    steps: dict[int, float]


class _GivenUpError(Exception):
    """A trial was not worth going on with."""


class Trials:
    """Trainings of a recipe with other settings; the test part is not there to be looked at.

    Args:
        recipe: The recipe.
        splits: The splits that every trial is trained on.
        seeds: How many seeds it is trained with on every split, counted from the recipe's on.
        metric: What trials are compared by, of the models that ``trainer.metric`` has selected; the same by default.
        reporter: Makes whom to tell how a trial goes, from its name.
    """

    def __init__(
        self,
        recipe: Recipe,
        splits: Sequence[int],
        seeds: int,
        metric: str | None,
        reporter: Callable[[str], Reporter] | None,
    ):
        self.recipe, self.splits, self.seeds, self.reporter = recipe, splits, seeds, reporter
        self._read = lru_cache(maxsize=2)(self._load)
        datasets = self._read(what_is_read(recipe.data))
        if not all(len(dataset.split.val) for dataset in datasets):
            raise InputError(f"{datasets[0].name} has no validation part, and nothing else may be searched on")
        self.spec = TaskSpec.of(datasets[0])
        self.selects = measures.choose_metric(self.spec, recipe.trainer.metric)
        self.metric = measures.choose_metric(self.spec, metric or self.selects, "--metric")

    @property
    def alone(self) -> bool:
        """Whether a trial is a single training."""
        return len(self.splits) * self.seeds == 1

    def ended(self, changes: dict[str, Any], name: str, stop: Stop) -> Ended:
        """How a trial ends.

        Args:
            changes: Its settings.
            name: What it is called where its progress is told.
            stop: Says after an epoch, or after one of several trainings, whether the trial is given up.
        """
        steps: dict[int, float] = {}

        def asked(step: int, value: float) -> bool:
            steps[step] = value
            return stop(step, value)

        try:
            value = self._value(changes, name, asked)
            return Ended("FAIL", None, steps) if math.isnan(value) else Ended("COMPLETE", value, steps)
        except _GivenUpError:
            return Ended("PRUNED", None, steps)
        except LossError:
            return Ended("FAIL", None, steps)

    def _value(self, changes: dict[str, Any], name: str, stop: Stop) -> float:
        # One training is given up in the middle; of several, the first ones tell whether the others are worth it.
        within = stop if self.alone and self.metric == self.selects else None
        values: list[float] = []
        for part, (value, given_up) in enumerate(self._train_all(changes, name, range(self.seeds), within)):
            values.append(value)
            if given_up or (not self.alone and stop(part, statistics.fmean(values))):
                raise _GivenUpError
        return statistics.fmean(values)

    def once_more(self, changes: dict[str, Any], name: str) -> float | None:
        """What a trial comes to with other seeds; None where it fails."""
        others = range(self.seeds, self.seeds + FINAL_SEEDS)
        try:
            value = statistics.fmean(value for value, _ in self._train_all(changes, name, others, None))
        except LossError:
            return None
        return None if math.isnan(value) else value

    def _train_all(
        self, changes: dict[str, Any], name: str, seeds: range, within: Stop | None
    ) -> Iterator[tuple[float, bool]]:
        changed = recipes.replace(self.recipe, changes)
        told = self.reporter(name) if self.reporter is not None else None
        for seed, dataset in itertools.product(seeds, self._read(what_is_read(changed.data))):
            yield self._train(replace(changed, seed=changed.seed + seed), dataset, told, within)

    def _train(
        self, recipe: Recipe, dataset: GraphDataset, told: Reporter | None, within: Stop | None
    ) -> tuple[float, bool]:
        """What one training comes to, and whether it was given up."""
        torch.manual_seed(mix(recipe.seed, -1))
        spec = TaskSpec.of(dataset)
        model, fabric = build(recipe.model, spec), make_fabric(recipe)
        fitted = fit_loop(model, dataset, spec, recipe, fabric, None, told, within)
        if fitted.stopped == "interrupted":
            raise KeyboardInterrupt
        if self.metric != self.selects:
            return measure(model, dataset, spec, recipe, fabric)["val"][self.metric], False
        return math.nan if fitted.value is None else fitted.value, fitted.stopped == "pruned"

    def _load(self, data: DataConfig) -> list[GraphDataset]:
        return [load_dataset(replace(data, split=split), with_test=False)[0] for split in self.splits]
