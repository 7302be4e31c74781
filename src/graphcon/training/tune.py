"""Search for settings on validation data only, resumable at any moment."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from graphcon._files import write_json, write_whole
from graphcon.errors import InputError
from graphcon.training import recipes
from graphcon.training.batches import mix
from graphcon.training.config import Recipe
from graphcon.training.folder import RunFolder
from graphcon.training.loop import Reporter
from graphcon.training.run import check_one_device
from graphcon.training.search_space import Range, check_networks, own_settings, space_of, usual_search
from graphcon.training.team import Team, Tell, direction, study_of, team
from graphcon.training.trials import Ended, Trials

#: From so many trials on it is told how much a setting matters; of fewer it is mostly chance.
TELLING = 10


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
    workers: int = 1,
    tell: Tell | None = None,
) -> Tuned:
    """Searches the fields in the recipe's ``[search]`` table; the test part is not there to be looked at.

    A recipe without one is searched as :func:`usual_search` says.
    The first trial has the recipe's own settings, as far as they lie within the search.

    Args:
        recipe: The recipe.
        out: The folder of the study; a search that is there is resumed.
        trials: How many trials there are to be in all.
        reporter: Makes whom to tell how a trial goes, from its name, where there is one process.
        splits: The splits a trial is trained on, where the mean of their validations is what counts. (default: the
            recipe's own)
        seeds: How many seeds it is trained with on every split, counted from the recipe's on.
        metric: What trials are compared by, of the models that ``trainer.metric`` has selected. (default: the same)
        finalists: How many of the best trials are trained once more, with three other seeds on every
            split; the best of these is what was found. (default: the best trial is)
        workers: Number of processes: so many trials are trained at a time, and drawn independently.
        tell: Told a line about every trial that has ended, where there are several processes.
    """
    check_one_device(recipe)
    for option, number in (("--trials", trials), ("--finalists", finalists)):
        if number < 1:
            raise InputError(f"{option} {number}: must be at least 1")
    optuna = _optuna()
    recipe = replace(recipe, search=recipe.search or usual_search(recipe))
    space = space_of(recipe)
    trained = Trials(recipe, splits or (recipe.data.split,), seeds, metric, reporter)
    check_networks(recipe, space, trained.spec)
    folder = RunFolder(out)
    if not (out / "study.log").exists():
        folder.check_free()
    out.mkdir(parents=True, exist_ok=True)
    with folder.held("searching there"), team(trained, workers, tell) as trainers:
        journal = _journal(optuna, folder, trained)
        done = _done(journal)
        found = _outcome(optuna, done, trained, folder)
        for first in range(0, trials, workers):  # trials that run together know those before the first of them
            missing = [n for n in range(first, min(first + workers, trials)) if n not in done]
            known = [done[n] for n in range(first)] if missing else []
            drawn = {n: _drawn(optuna, known, trained, space, n) for n in missing}
            for n, ended in trainers.ended({n: trial.params for n, trial in drawn.items()}, known):
                done[n] = _frozen(optuna, drawn[n], ended, n)
                journal.add_trial(done[n])
            found = _outcome(optuna, done, trained, folder) if missing else found
        if found is None:
            raise InputError(
                f"no trial came to its end: all {trials} failed, for the loss became infinite or the validation part "
                f"does not define {trained.metric}. Narrow the search, or compare by another metric"
            )
        again = _finalists(journal, done, finalists, trainers) if finalists > 1 else []
        return _best_of(again, done, found, folder) if again else found


def _drawn(optuna: Any, known: Sequence[Any], trained: Trials, space: dict[str, Range], number: int) -> Any:
    """The trial of a number, with its settings; the first has the recipe's own.

    It is drawn from its own seed and what is known by then: a search that was stopped draws what it would have drawn.
    """
    recipe = trained.recipe
    study = study_of(trained, known, optuna.samplers.TPESampler(seed=mix(recipe.seed, number) % (1 << 32)))
    if number == 0:
        study.enqueue_trial(own_settings(recipe, space))
    trial = study.ask()
    for field, told in space.items():
        told.suggest(trial, field)
    return trial


def _frozen(optuna: Any, drawn: Any, ended: Ended, number: int) -> Any:
    """A trial that has ended, as the journal keeps it: in one line, which is there or is not."""
    return optuna.trial.create_trial(
        state=optuna.trial.TrialState[ended.state],
        value=ended.value,
        params=drawn.params,
        distributions=drawn.distributions,
        intermediate_values=ended.steps,
        user_attrs={"number": number},
    )


def _done(journal: Any) -> dict[int, Any]:
    """The trials that came to an end, by their numbers; of those that run together, any may be the first to end."""
    ended = (trial for trial in journal.trials if trial.state.is_finished())
    return {trial.user_attrs.get("number", place): trial for place, trial in enumerate(ended)}


def _check_same(journal: Any, trained: Trials, out: Path) -> None:
    """Refuses to go on with a search for something else: values of different trainings cannot be compared."""
    told = {
        "settings": recipes.to_toml(recipes.essence(trained.recipe)),
        "splits": list(trained.splits),
        "seeds": trained.seeds,
        "metric": trained.metric,
    }
    before = dict(journal.user_attrs.get("told", told))
    if "settings" in before:  # an older search kept more than the essence
        before["settings"] = recipes.to_toml(recipes.essence(recipes.from_toml(before["settings"], str(out))))
    changed = [what for what in told if before.get(what, told[what]) != told[what]]
    if changed:
        raise InputError(
            f"{out}: holds a search with other {' and '.join(changed)}. Name another folder with --out, or delete it"
        )
    journal.set_user_attr("told", told)


def _outcome(optuna: Any, done: dict[int, Any], trained: Trials, folder: RunFolder) -> Tuned | None:
    """What has been found by now, kept in the folder; None while no trial has come to its end."""
    states = [trial.state.name for trial in done.values()]
    if "COMPLETE" not in states:
        return None
    study = study_of(trained, [done[n] for n in sorted(done)])  # of two that are as good, the first is the best
    best, metric = recipes.replace(trained.recipe, study.best_params), trained.metric
    write_whole(folder.path / "best.toml", recipes.to_toml(best))
    importance: dict[str, float] = {}
    if states.count("COMPLETE") >= TELLING:
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


def _finalists(journal: Any, done: dict[int, Any], many: int, trainers: Team) -> list[Finalist]:
    """The best trials with what they come to once more, the best first; what is known is not trained again."""
    larger = journal.direction.name == "MAXIMIZE"
    complete = {n: done[n] for n in sorted(done) if done[n].state.name == "COMPLETE"}
    best = sorted(complete, key=lambda n: complete[n].value, reverse=larger)[:many]
    missing = {n: complete[n].params for n in best if _once_more(n) not in journal.user_attrs}
    for n, value in trainers.once_more(missing):
        journal.set_user_attr(_once_more(n), value)
    again = {n: journal.user_attrs[_once_more(n)] for n in best}  # what fails with another seed is no finalist
    finalists = [Finalist(n, complete[n].value, value) for n, value in again.items() if value is not None]
    return sorted(finalists, key=lambda finalist: finalist.value, reverse=larger)


def _once_more(number: int) -> str:
    """Under what a study keeps how one of its best trials did with other seeds."""
    return f"once more, trial {number}"


def _best_of(finalists: list[Finalist], done: dict[int, Any], found: Tuned, folder: RunFolder) -> Tuned:
    """What was found where the best trials were trained once more, kept in the folder."""
    best = finalists[0]
    parameters = done[best.trial].params
    recipe = recipes.replace(found.recipe, parameters)
    write_whole(folder.path / "best.toml", recipes.to_toml(recipe))
    told = {"value": best.value, "parameters": parameters, "finalists": [asdict(finalist) for finalist in finalists]}
    write_json(folder.path / "study.json", json.loads((folder.path / "study.json").read_text(encoding="utf-8")) | told)
    return replace(found, recipe=recipe, value=best.value, finalists=tuple(finalists))


def _journal(optuna: Any, folder: RunFolder, trained: Trials) -> Any:
    """The study in which a folder keeps what has ended, new or resumed."""
    file = folder.path / "study.log"
    _drop_half_a_line(file)
    # Who dies while it writes leaves this behind, and Optuna would wait for it forever.
    file.with_name("study.log.lock").unlink(missing_ok=True)
    backend = optuna.storages.journal.JournalFileBackend(str(file.absolute()))
    journal = optuna.create_study(
        study_name="graphcon",
        storage=optuna.storages.JournalStorage(backend),
        load_if_exists=True,
        direction=direction(trained),
    )
    _check_same(journal, trained, folder.path)
    write_whole(folder.recipe_file, recipes.to_toml(trained.recipe))
    return journal


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


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise InputError("graphcon tune needs Optuna. Install it with: pip install 'graphcon[tune]'") from error
    optuna.logging.set_verbosity(logging.WARNING)
    return optuna
