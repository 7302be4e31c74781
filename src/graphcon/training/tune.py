"""Search for settings on validation data only, resumable at any moment."""

import itertools
import json
import logging
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch

from graphcon._files import write_json, write_whole
from graphcon.data import GraphDataset
from graphcon.errors import InputError
from graphcon.training import metrics as measures
from graphcon.training import recipes
from graphcon.training.batches import mix
from graphcon.training.config import DataConfig, Recipe
from graphcon.training.folder import RunFolder
from graphcon.training.load_data import load_dataset, what_is_read
from graphcon.training.loop import LossError, Reporter, fit_loop
from graphcon.training.model import build, named
from graphcon.training.run import make_fabric, measure
from graphcon.training.spec import TaskSpec

Prune = Callable[[int, float], bool]
#: How many other seeds the finalists are trained with, on every split.
FINAL_SEEDS = 3


@dataclass(frozen=True)
class Finalist:
    """One of the best trials, trained once more with other seeds."""

    trial: int
    searched: float
    value: float


@dataclass(frozen=True)
class Tuned:
    """What a search found."""

    recipe: Recipe
    value: float
    metric: str
    trials: int
    pruned: int
    failed: int
    importance: dict[str, float]
    finalists: tuple[Finalist, ...] = ()


def tune(
    recipe: Recipe,
    out: Path,
    trials: int,
    reporter: Callable[[str], Reporter] | None = None,
    splits: Sequence[int] | None = None,
    seeds: int = 1,
    metric: str | None = None,
    finalists: int = 1,
) -> Tuned:
    """Searches the fields in the recipe's ``[search]`` table; the test part is not there to be looked at.

    A recipe without one is searched as :func:`usual_search` says.
    The first trial has the recipe's own settings, as far as they lie within the search.

    Args:
        recipe: The recipe.
        out: The folder of the study; one that is there is gone on with.
        trials: How many trials there are to be in all.
        reporter: Makes whom to tell how a trial goes, from its name.
        splits: The splits a trial is trained on, where the mean of their validations is what counts. (default: the
            recipe's own)
        seeds: How many seeds it is trained with on every split, counted from the recipe's on.
        metric: What trials are compared by, of the models that ``trainer.metric`` has selected. (default: the same)
        finalists: How many of the best trials are trained once more, with :obj:`FINAL_SEEDS` other seeds on every
            split; the best of these is what was found. (default: the best trial is)
    """
    for option, number in (("--trials", trials), ("--finalists", finalists)):
        if number < 1:
            raise InputError(f"{option} {number}: must be at least 1")
    optuna = _optuna()
    recipe = replace(recipe, search=recipe.search or usual_search(recipe))
    space = {field: _Range.of(field, told) for field, told in recipe.search.items()}
    for field, told in space.items():
        recipes.replace(recipe, {field: told.example})  # a wrong name or type is told before any trial
    splits = splits or (recipe.data.split,)

    @lru_cache(maxsize=2)
    def read(data: DataConfig) -> list[GraphDataset]:
        return [load_dataset(replace(data, split=split), with_test=False)[0] for split in splits]

    datasets = read(what_is_read(recipe.data))
    if not all(len(dataset.split.val) for dataset in datasets):
        raise InputError(f"{datasets[0].name} has no validation part, and nothing else may be searched on")
    spec = TaskSpec.of(datasets[0])
    selects = measures.choose_metric(spec, recipe.trainer.metric)
    metric = measures.choose_metric(spec, metric or selects, "--metric")
    folder = RunFolder(out)
    if not (out / "study.log").exists():
        folder.check_free()
    out.mkdir(parents=True, exist_ok=True)
    with folder.held("searching there"):
        direction = "minimize" if metric in measures.SMALLER_IS_BETTER else "maximize"
        alone = len(datasets) * seeds == 1
        study = _study(optuna, out, direction, warmup=20 if alone else 1)
        anywhere = replace(recipe, data=replace(recipe.data, root=None), trainer=replace(recipe.trainer, threads=None))
        told = {
            "settings": recipes.to_toml(anywhere),
            "splits": list(splits),
            "seeds": seeds,
            "metric": metric,
        }
        _check_same(study, told, out)
        write_whole(folder.recipe_file, recipes.to_toml(recipe))

        def train(
            one: Recipe, dataset: GraphDataset, told: Reporter | None, prune: Prune | None = None
        ) -> tuple[float, bool]:
            """What one training comes to on validation data, and whether it was given up."""
            torch.manual_seed(mix(one.seed, -1))
            of = TaskSpec.of(dataset)
            model, fabric = build(one.model, of), make_fabric(one)
            fitted = fit_loop(model, dataset, of, one, fabric, None, told, prune)
            assert fitted.value is not None
            value = fitted.value if metric == selects else measure(model, dataset, of, one, fabric)["val"][metric]
            return value, fitted.stopped == "pruned"

        def value_of(trial: Any, number: int) -> float:
            changed = recipes.replace(recipe, {field: told.suggest(trial, field) for field, told in space.items()})
            told = reporter(f"trial {number}") if reporter is not None else None
            values: list[float] = []
            runs = itertools.product(range(seeds), read(what_is_read(changed.data)))
            for part, (seed, dataset) in enumerate(runs):
                # One training is given up in the middle; of several, the first ones tell whether the others are worth
                # it.
                stop = partial(_told_to_stop, trial) if alone and metric == selects else None
                value, given_up = train(replace(changed, seed=changed.seed + seed), dataset, told, stop)
                values.append(value)
                if given_up or (not alone and _told_to_stop(trial, part, statistics.fmean(values))):
                    raise optuna.TrialPruned
            return statistics.fmean(values)

        def once_more(number: int, trial: Any) -> float:
            changed = recipes.replace(recipe, trial.params)
            told = reporter(f"trial {number} once more") if reporter is not None else None
            others = range(changed.seed + seeds, changed.seed + seeds + FINAL_SEEDS)
            runs = itertools.product(others, read(what_is_read(changed.data)))
            return statistics.fmean(train(replace(changed, seed=seed), dataset, told)[0] for seed, dataset in runs)

        found = _outcome(optuna, study, recipe, metric, folder)
        for number in range(len(_finished(study)), trials):
            if number == 0:
                study.enqueue_trial(_own_settings(recipe, space))
            # A trial is drawn from its own seed and what is known by then, so a search that was stopped draws what it
            # would have drawn.
            study.sampler = optuna.samplers.TPESampler(seed=mix(recipe.seed, number) % (1 << 32))
            trial = study.ask()
            try:
                study.tell(trial, value_of(trial, number))
            except LossError:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            except optuna.TrialPruned:
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            found = _outcome(optuna, study, recipe, metric, folder)
        if found is None:
            raise InputError(f"no trial came to its end: all {trials} failed. Narrow the search")
        again = _finalists(study, finalists, once_more) if finalists > 1 else []
        return _best_of(again, study, found, folder) if again else found


def usual_search(recipe: Recipe) -> dict[str, Any]:
    """What is worth searching where a recipe says nothing: depth, width, dropout, rate, decay; alpha and gamma.

    The recipe's own settings are among it, but for a decay of nothing: a search begins where the recipe stands.
    """
    search: dict[str, Any] = {
        "model.steps": [4, 8, 16],
        "model.channels": [32, 64, 128],
        "model.dropout": [0.0, 0.2, 0.5],
        "optimizer.lr": {"low": 0.001, "high": 0.03, "log": True},
        "optimizer.weight_decay": {"low": 1e-5, "high": 1e-2, "log": True},
    }
    if "alpha" in named(recipe.model.name).fields:
        search |= {"model.alpha": {"low": 0.0, "high": 1.0}, "model.gamma": {"low": 0.25, "high": 1.5}}
    return {field: _widened(told, recipes.value(recipe, field)) for field, told in search.items()}


def _widened(told: Any, own: float) -> Any:
    """Choices or a range with one more value in it; a logarithmic range goes without zero."""
    if isinstance(told, list):
        return sorted({*told, own})
    if own == 0 and told.get("log"):
        return told
    return told | {"low": min(told["low"], own), "high": max(told["high"], own)}


def _check_same(study: Any, told: dict[str, Any], out: Path) -> None:
    """Refuses to go on with a search for something else: values of different trainings cannot be compared."""
    before = study.user_attrs.get("told", told)
    changed = [what for what in told if before.get(what, told[what]) != told[what]]
    if changed:
        raise InputError(
            f"{out}: holds a search with other {' and '.join(changed)}. Name another folder with --out, or delete it"
        )
    study.set_user_attr("told", told)


def _own_settings(recipe: Recipe, space: dict[str, "_Range"]) -> dict[str, Any]:
    own = {field: recipes.value(recipe, field) for field in space}
    return {field: value for field, value in own.items() if space[field].holds(value)}


def _finished(study: Any) -> list[Any]:
    """The trials that came to an end; one that was interrupted counts for nothing."""
    return [trial for trial in study.trials if trial.state.is_finished()]


def _told_to_stop(trial: Any, step: int, value: float) -> bool:
    trial.report(value, step)
    return trial.should_prune()


def _outcome(optuna: Any, study: Any, recipe: Recipe, metric: str, folder: RunFolder) -> Tuned | None:
    """What has been found by now, kept in the folder; None while no trial has come to its end."""
    states = [trial.state.name for trial in _finished(study)]
    if "COMPLETE" not in states:
        return None
    best = recipes.replace(recipe, study.best_params)
    write_whole(folder.path / "best.toml", recipes.to_toml(best))
    importance: dict[str, float] = {}
    if states.count("COMPLETE") > 1:
        importance = dict(optuna.importance.get_param_importances(study))
    result = {
        "metric": metric,
        "value": study.best_value,
        "parameters": study.best_params,
        "trials": len(states),
        "pruned": states.count("PRUNED"),
        "failed": states.count("FAIL"),
        "importance": importance,
    }
    write_json(folder.path / "study.json", result)
    return Tuned(best, study.best_value, metric, len(states), states.count("PRUNED"), states.count("FAIL"), importance)


def _finalists(study: Any, many: int, once_more: Callable[[int, Any], float]) -> list[Finalist]:
    """The best trials with what they come to once more, the best first; what is known is not trained again."""
    larger = study.direction.name == "MAXIMIZE"
    complete = [(number, trial) for number, trial in enumerate(_finished(study)) if trial.state.name == "COMPLETE"]
    finalists = []
    for number, trial in sorted(complete, key=lambda one: one[1].value, reverse=larger)[:many]:
        key = f"once more, trial {number}"
        if key not in study.user_attrs:
            try:
                study.set_user_attr(key, once_more(number, trial))
            except LossError:  # what fails with another seed is no finalist
                study.set_user_attr(key, None)
        again = study.user_attrs[key]
        finalists += [Finalist(number, trial.value, again)] if again is not None else []
    return sorted(finalists, key=lambda finalist: finalist.value, reverse=larger)


def _best_of(finalists: list[Finalist], study: Any, found: Tuned, folder: RunFolder) -> Tuned:
    """What was found where the best trials were trained once more, kept in the folder."""
    best = finalists[0]
    parameters = _finished(study)[best.trial].params
    recipe = recipes.replace(found.recipe, parameters)
    write_whole(folder.path / "best.toml", recipes.to_toml(recipe))
    told = {"value": best.value, "parameters": parameters, "finalists": [asdict(finalist) for finalist in finalists]}
    write_json(folder.path / "study.json", json.loads((folder.path / "study.json").read_text()) | told)
    return replace(found, recipe=recipe, value=best.value, finalists=tuple(finalists))


def _study(optuna: Any, out: Path, direction: str, warmup: int) -> Any:
    file = out / "study.log"
    _drop_half_a_line(file)
    # Who dies while it writes leaves this behind, and Optuna would wait for it forever.
    file.with_name("study.log.lock").unlink(missing_ok=True)
    backend = optuna.storages.journal.JournalFileBackend(str(file.absolute()))
    return optuna.create_study(
        study_name="graphcon",
        storage=optuna.storages.JournalStorage(backend),
        load_if_exists=True,
        direction=direction,
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=warmup),
    )


def _drop_half_a_line(file: Path) -> None:
    """Drops what was being written to a study when the machine died or its disk was full.

    Raises:
        InputError: Another line than the last is damaged.
    """
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            whole = isinstance(json.loads(line), dict) and line.endswith(b"\n")
        except ValueError:
            whole = False
        if not whole and number == len(lines):
            write_whole(file, b"".join(lines[:-1]))
        elif not whole:
            raise InputError(
                f"{file}, line {number}: is not what was written there. Delete it and all lines after it: the search "
                "goes on from there, with the trials it would have had"
            )


@dataclass(frozen=True)
class _Range:
    """What one field is searched over: choices, or numbers between two ends."""

    choices: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False

    @classmethod
    def of(cls, field: str, told: Any) -> "_Range":
        if isinstance(told, list) and told:
            return cls(choices=tuple(told))
        if isinstance(told, dict) and {"low", "high"} <= set(told) <= {"low", "high", "log"}:
            low, high = told["low"], told["high"]
            numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high))
            log = bool(told.get("log", False))
            if numbers and low < high and (low > 0 or not log):
                return cls(low=low, high=high, log=log, whole=isinstance(low, int) and isinstance(high, int))
        raise InputError(
            f'search "{field}" = {told!r}, but must be a list of choices, or {{ low = 0.001, high = 0.1, log = true }} '
            "with low < high, above 0 where log is true"
        )

    @property
    def example(self) -> Any:
        return self.choices[0] if self.choices else self.low

    def holds(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high

    def suggest(self, trial: Any, field: str) -> Any:
        if self.choices:
            return trial.suggest_categorical(field, self.choices)
        if self.whole:
            return trial.suggest_int(field, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(field, self.low, self.high, log=self.log)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise InputError("graphcon tune needs Optuna. Install it with: pip install 'graphcon[tune]'") from error
    optuna.logging.set_verbosity(logging.WARNING)
    return optuna
