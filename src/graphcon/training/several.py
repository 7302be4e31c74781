"""Several runs of one recipe, on other splits and with other seeds, and their mean."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import add
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from graphcon._console import say
from graphcon._files import write_json
from graphcon._processes import in_processes, threads_each, told_to_stop
from graphcon._words import shown
from graphcon.errors import InputError, LossError
from graphcon.training import metrics as measures
from graphcon.training import run
from graphcon.training.config import Recipe
from graphcon.training.folder import RunFolder
from graphcon.training.progress import reporting, show_warnings_plainly
from graphcon.training.resume import check_same

#: What a run came to: its metrics, why it has none, or None where the user stopped it.
Outcome = dict[str, Any] | LossError | None


def train(
    recipe: Recipe, name: str, out: Path | None, splits: list[int], seeds: int, workers: int, console: Console
) -> int:
    """Trains what is missing of the runs and tells their mean; returns the exit code."""
    run.check_one_device(recipe)
    several = {
        f"split-{split}-seed-{seed}": replace(recipe, data=replace(recipe.data, split=split), seed=seed)
        for split in splits
        for seed in range(recipe.seed, recipe.seed + seeds)
    }
    folder = out or next(place for place in folders(name) if _may_go_on(place, several))
    RunFolder(folder).check_free()
    wanted = {folder / name: one for name, one in several.items()}
    for place, one in wanted.items():
        check_same(place, one)
    if out is None and folder.exists():
        say(console, f"Goes on in {folder}")
    trained = _one_by_one(wanted, console) if workers == 1 else _together(wanted, workers, console)
    outcomes: dict[Path, dict[str, Any] | LossError] = {}
    try:
        for place, outcome in trained:
            if outcome is None:
                raise KeyboardInterrupt
            outcomes[place] = outcome
    except KeyboardInterrupt:
        console.print("Saved. Type the same command again to go on", highlight=False)
        return 130
    _conclude({place: outcomes[place] for place in wanted}, folder, console)
    return 0


def folders(name: str) -> Iterator[Path]:
    """The folders that runs of that name may have, in their order."""
    base = Path("runs") / name
    return itertools.chain([base], (base.with_name(f"{base.name}-{number}") for number in itertools.count(2)))


def _may_go_on(folder: Path, several: Mapping[str, Recipe]) -> bool:
    """Whether a folder is free, or holds runs of these that were stopped before their mean was known."""
    if not folder.exists():
        return True
    if (folder / "recipe.toml").exists() or (folder / "metrics.json").exists():
        return False
    there = {name: one for name, one in several.items() if (folder / name / "recipe.toml").exists()}
    try:
        for name, one in there.items():
            check_same(folder / name, one)
    except InputError:
        return False
    return bool(there)


def _one_by_one(wanted: Mapping[Path, Recipe], console: Console) -> Iterator[tuple[Path, Outcome]]:
    for place, one in wanted.items():
        with reporting(console) as make:
            epochs = one.trainer.epochs
            yield place, _outcome(one, place, reporter=lambda *_, place=place, epochs=epochs: make(place.name, epochs))


def _together(wanted: Mapping[Path, Recipe], workers: int, console: Console) -> Iterator[tuple[Path, Outcome]]:
    jobs = {place: (one, place, threads_each(workers)) for place, one in wanted.items()}
    for number, (place, outcome) in enumerate(in_processes(_in_a_process, jobs, workers), start=1):
        console.print(f"{number}/{len(wanted)}  {place.name}  {_in_short(outcome)}", highlight=False)
        yield place, outcome


def _in_a_process(recipe: Recipe, place: Path, threads: int) -> Outcome:
    if told_to_stop():
        return None
    show_warnings_plainly()
    return _outcome(recipe, place, threads=threads)


def _outcome(recipe: Recipe, place: Path, **how: Any) -> Outcome:
    try:
        return run.finish(recipe, place, **how)
    except LossError as error:  # the others may do better
        return error


def _in_short(outcome: Outcome) -> str:
    if not isinstance(outcome, dict):
        return "stopped" if outcome is None else str(outcome)
    metric = outcome["metric"]
    measured = {title: outcome[part][metric] for part, title in run.PARTS.items() if part in outcome}
    return "  ".join([metric, *(f"{title} {shown(value)}" for title, value in measured.items())])


def _conclude(outcomes: Mapping[Path, dict[str, Any] | LossError], folder: Path, console: Console) -> None:
    """Keeps and shows the mean of the runs that have one.

    Raises:
        LossError: Some have diverged.
    """
    results = [outcome for outcome in outcomes.values() if isinstance(outcome, dict)]
    if results:
        summary = aggregate(results)
        write_json(folder / "metrics.json", summary)
        told = f"{len(results)} runs, mean ± sd; epochs selected on validation {results[0]['metric']}"
        console.print(told, highlight=False, style="italic")
        console.print(_table(summary))
        say(console, f"Runs  {folder}")
    diverged = [f"{place}: {error}" for place, error in outcomes.items() if isinstance(error, LossError)]
    if diverged:
        raise LossError("\ngraphcon: ".join(diverged))


def _table(summary: dict[str, Any]) -> Table:
    """The means of all metrics; one that some runs do not define is of the others, and says so."""
    parts = {part: title for part, title in run.PARTS.items() if summary[part]}
    table = Table(box=SIMPLE)
    table.add_column("")
    for name in parts.values():
        table.add_column(name, justify="right")
    for metric in next((summary[part] for part in parts), {}):
        cells = [summary[part][metric] for part in parts]
        told = (f"{shown(cell['mean'])} ± {shown(cell['sd'])}" for cell in cells)
        fewer = ("" if cell["n"] == summary["runs"] else f" (n = {cell['n']})" for cell in cells)
        table.add_row(metric, *map(add, told, fewer))
    return table


def aggregate(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation of several runs, and the number of those that have it, metric by metric."""
    summary: dict[str, Any] = {"runs": len(results)}
    for part in run.PARTS:
        summary[part] = {}
        for name in results[0].get(part, {}):
            mean, sd, n = measures.mean_and_sd([result[part][name] for result in results])
            summary[part][name] = {"mean": mean, "sd": sd, "n": n}
    return summary
