"""Runs a table of the paper: every training in its own folder, resumable, spread over processes."""

import hashlib
import json
import math
import os
import platform
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphcon._files import locked, write_json
from graphcon._processes import in_processes, threads_each, told_to_stop
from graphcon.errors import InputError
from graphcon.experiments import results
from graphcon.experiments.results import Run
from graphcon.experiments.tables import BUDGETS, TABLES, Job, jobs
from graphcon.training import recipes
from graphcon.training.folder import RunFolder
from graphcon.training.loop import LossError, Reporter


class StoppedError(Exception):
    """The user stopped a training; what was done is kept."""


def reproduce(
    name: str,
    budget: str,
    out: Path,
    runs: Path,
    *,
    workers: int = 1,
    only: tuple[str, ...] = (),
    at: tuple[str, ...] = (),
    data_root: Path | None = None,
    reporter: Callable[[Job], Reporter] | None = None,
) -> Iterator[tuple[int, int, Run]]:
    """Trains what is missing of a table and yields every run as it is there: how many are, of how many, and the run.

    Results are written after every run, so that a stop loses no more than the runs that are under way, and those go
    on from their last checkpoint.

    Args:
        name: The table.
        budget: smoke, small or paper.
        out: Where the results go.
        runs: Where the run folders go.
        workers: Number of processes.
        only: The recipes to run; all of the table by default.
        at: The columns to run, by their labels; all by default.
        data_root: Where named sets are looked for first.
        reporter: Makes whom to tell how a training goes, where there is one process.
    """
    table = TABLES[name]
    wanted = jobs(table, table.budgets[budget], only, at)
    if not wanted:
        raise InputError(f"{name}: no recipe is packaged for {', '.join(table.datasets)}")
    if data_root is not None:
        wanted = [
            replace(job, recipe=replace(job.recipe, data=replace(job.recipe.data, root=data_root))) for job in wanted
        ]
    _check_budget(out, name, budget)
    results.load(out, name)  # a damaged file is told before any training
    for number, run in enumerate(_run_all(wanted, runs / f"{name}-{budget}", workers, reporter), start=1):
        with locked(out):  # others may run other rows of the table
            _check_budget(out, name, budget)
            _set_aside(out, name, budget)
            kept = {run.key: run for run in results.load(out, name)}
            kept[run.key] = run
            results.write(out / f"{name}.csv", kept.values())
            _write_facts(out, name, budget, list(kept.values()))
        yield number, len(wanted), run


def _run_all(wanted: list[Job], runs: Path, workers: int, reporter: Callable[[Job], Reporter] | None) -> Iterator[Run]:
    if workers == 1:
        for job in wanted:
            yield train(job, runs, None, reporter)
        return
    jobs_by_number = {number: (job, runs, threads_each(workers)) for number, job in enumerate(wanted)}
    for _, run in in_processes(train, jobs_by_number, workers):
        yield run


def train(job: Job, runs: Path, threads: int | None, reporter: Callable[[Job], Reporter] | None = None) -> Run:
    """One training, or what an earlier one left."""
    if told_to_stop():
        raise StoppedError
    from graphcon.training import run as running

    recipe = job.recipe
    place = runs / f"{job.name}-{_mark(job)}" / f"split-{recipe.data.split}-seed-{recipe.seed}"
    told = None if reporter is None else lambda *_: reporter(job)
    diverged = place / "diverged"  # a training whose loss became infinite is a result, too, and not tried again
    if diverged.exists():
        return _diverged(job, place)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a table is meant to visit what is degenerate or unstable
            measured = running.finish(recipe, place, threads=threads, reporter=told)
    except LossError:
        diverged.touch()
        return _diverged(job, place)
    if measured is None:
        raise StoppedError
    table = TABLES[job.table]
    val, test = (table.unit * measured[part][table.metric] for part in ("val", "test"))
    return _as_run(job, val, test, RunFolder(place).seconds(), measured["parameters"])


def _diverged(job: Job, place: Path) -> Run:
    records = RunFolder(place).records()
    return _as_run(job, math.nan, math.nan, records[-1]["seconds"] if records else 0.0, 0)


def _as_run(job: Job, val: float, test: float, seconds: float, parameters: int) -> Run:
    split, seed = job.recipe.data.split, job.recipe.seed
    return Run(job.dataset, job.model, job.variant, split, seed, val, test, seconds, parameters, results.settings(job))


def _mark(job: Job) -> str:
    """Tells runs with other settings apart, so that none is taken for another."""
    shared = replace(job.recipe, data=replace(job.recipe.data, split=0, root=None), seed=0)
    return hashlib.sha256(recipes.to_toml(shared).encode()).hexdigest()[:8]


def facts(out: Path, name: str) -> dict[str, Any]:
    """Under which budget, when and on what the results of a table were made; empty where there are none.

    Raises:
        InputError: The file that tells is damaged.
    """
    file = out / f"{name}.json"
    if not file.exists():
        return {}
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        told = None
    if not isinstance(told, dict) or told.get("budget") not in BUDGETS:
        raise InputError(
            f"{file}: does not tell the budget of {name}.csv beside it. Move both away: the same command makes them "
            "again from the runs that are kept"
        )
    return told


def _check_budget(out: Path, name: str, budget: str) -> None:
    told = facts(out, name)
    if not told and (out / f"{name}.csv").exists():
        raise InputError(
            f"{out / name}.json: is missing, and tells how {name}.csv was made. Move {name}.csv away, too: the same "
            "command makes both again from the runs that are kept"
        )
    before = told.get("budget", BUDGETS[0])
    if BUDGETS.index(before) > BUDGETS.index(budget):
        raise InputError(
            f"--budget {budget}: {out / name}.csv holds results of the larger budget {before!r}, which would be lost. "
            "Give another folder with --out"
        )


def _set_aside(out: Path, name: str, budget: str) -> None:
    """Renames the results of a smaller budget: a larger one begins its table anew."""
    before = facts(out, name).get("budget", budget)
    if before != budget:
        for ending in ("csv", "json", "md", "png"):
            if (file := out / f"{name}.{ending}").exists():
                file.replace(out / f"{name}-{before}.{ending}")


def _write_facts(out: Path, name: str, budget: str, runs: list[Run]) -> None:
    import torch
    import torch_geometric

    from graphcon import __version__

    told = {
        "table": name,
        "budget": budget,
        "spent": str(TABLES[name].budgets[budget]),
        "command": f"graphcon reproduce {name} --budget {budget}",
        "date": datetime.now(UTC).date().isoformat(),
        "runs": len(runs),
        "hours": round(sum(run.seconds for run in runs) / 3600, 2),
        "cores": os.cpu_count(),
        "versions": {
            "graphcon": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "torch_geometric": torch_geometric.__version__,
        },
    }
    write_json(out / f"{name}.json", told)
