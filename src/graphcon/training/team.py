"""Who trains the trials of a search: this process, or several that take one at a time each."""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal

import torch

from graphcon._processes import Processes, threads_each
from graphcon._words import shown
from graphcon.training import metrics as measures
from graphcon.training.progress import show_warnings_plainly
from graphcon.training.trials import Ended, Stop, Trials

#: The settings of trials, by their numbers.
Settings = Mapping[int, dict[str, Any]]
#: Told a line about every trial that has ended.
Tell = Callable[[str], None]


class Team:
    """Trains trials, several at a time where there are processes.

    What a trial is given up for is decided by those that were complete before it was handed out: who is faster makes
    no difference.

    Args:
        trials: What a trial is.
        processes: Who trains; None for this process.
        threads: How many each takes.
        tell: Whom to tell of every trial, where there are processes.
    """

    def __init__(self, trials: Trials, processes: Processes | None, threads: int, tell: Tell | None):
        self.trials, self.processes, self.threads, self.tell = trials, processes, threads, tell

    def ended(self, settings: Settings, known: Sequence[Any]) -> Iterator[tuple[int, Ended]]:
        """Yields how trials end, by their numbers, as they are done.

        Args:
            settings: Their settings.
            known: The trials before them, whose median decides whether one is given up.
        """
        if self.processes is None:
            stop = _by_the_median(self.trials, known)
            for n, changes in settings.items():
                yield n, self.trials.ended(changes, f"trial {n}", stop)
            return
        for n, ended in self.processes.each(_ended, self._jobs(settings, known)):
            self._tell(f"trial {n}", ended.value, {"PRUNED": "given up", "FAIL": "failed"}.get(ended.state, ""))
            yield n, ended

    def once_more(self, settings: Settings) -> Iterator[tuple[int, float | None]]:
        """Yields what trials come to with other seeds, by their numbers, as they are done."""
        if self.processes is None:
            for n, changes in settings.items():
                yield n, self.trials.once_more(changes, f"trial {n} once more")
            return
        for n, value in self.processes.each(_once_more, self._jobs(settings)):
            self._tell(f"trial {n} once more", value, "failed")
            yield n, value

    def _jobs(self, settings: Settings, *more: Any) -> dict[int, tuple[Any, ...]]:
        trials = self.trials
        told = pickle.dumps((trials.recipe, trials.splits, trials.seeds, trials.metric, None))
        return {n: (told, self.threads, changes, *more) for n, changes in settings.items()}

    def _tell(self, name: str, value: float | None, otherwise: str) -> None:
        if self.tell is not None:
            self.tell(f"{name}  " + (otherwise if value is None else f"val {self.trials.metric} {shown(value)}"))


@contextmanager
def team(trials: Trials, workers: int, tell: Tell | None = None) -> Iterator[Team]:
    """Yields who trains the trials, on the threads of the recipe where it says how many.

    Args:
        trials: What a trial is.
        workers: Number of processes; with one it is this one.
        tell: Whom to tell of every trial, where there are several.
    """
    threads = trials.recipe.trainer.threads
    if workers == 1:
        if threads is not None:
            torch.set_num_threads(threads)
        yield Team(trials, None, 1, tell)
        return
    with Processes(workers) as processes:
        yield Team(trials, processes, threads or threads_each(workers), tell)


def study_of(trials: Trials, known: Sequence[Any], sampler: Any = None) -> Any:
    """A study that knows these trials and no others.

    Args:
        trials: What a trial is.
        known: Trials that have ended.
        sampler: Draws the next one.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    pruner = optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=20 if trials.alone else 1)
    study = optuna.create_study(direction=direction(trials), sampler=sampler, pruner=pruner)
    study.add_trials(known)
    return study


def direction(trials: Trials) -> Literal["minimize", "maximize"]:
    """What Optuna is to do with the metric."""
    return "minimize" if trials.metric in measures.SMALLER_IS_BETTER else "maximize"


def _by_the_median(trials: Trials, known: Sequence[Any]) -> Stop:
    """Whether to give a trial up: where it is worse than the median of those that are known."""
    trial = study_of(trials, known).ask()

    def stop(step: int, value: float) -> bool:
        trial.report(value, step)
        return trial.should_prune()

    return stop


@cache
def _trials(told: bytes) -> Trials:
    """The trials of a search as a process knows them: it reads the data once."""
    return Trials(*pickle.loads(told))


def _ended(told: bytes, threads: int, changes: dict[str, Any], known: Sequence[Any]) -> Ended:
    _begin(threads)
    trials = _trials(told)
    return trials.ended(changes, "", _by_the_median(trials, known))


def _once_more(told: bytes, threads: int, changes: dict[str, Any]) -> float | None:
    _begin(threads)
    return _trials(told).once_more(changes, "")


def _begin(threads: int) -> None:
    """The first thing that a process does with a trial."""
    torch.set_num_threads(threads)
    show_warnings_plainly()
