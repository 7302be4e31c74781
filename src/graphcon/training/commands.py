"""The work behind `graphcon train`, `evaluate`, `predict`, `export`, `tune` and `recipes`."""

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text
from torch import distributed

from graphcon._console import say, titled_table
from graphcon._files import defined
from graphcon._processes import check_workers
from graphcon._words import shown
from graphcon.errors import InputError
from graphcon.training import export as exporting
from graphcon.training import metrics as measures
from graphcon.training import predict as predicting
from graphcon.training import recipes, run, several
from graphcon.training import tune as tuning
from graphcon.training.baseline import Baseline, baseline
from graphcon.training.config import Recipe
from graphcon.training.folder import RunFolder
from graphcon.training.load_data import load_dataset
from graphcon.training.own_files import own_files
from graphcon.training.progress import reporting, show_warnings_plainly
from graphcon.training.trials import FINAL_SEEDS


def train(
    recipe: Recipe,
    name: str,
    out: Path | None,
    resume: Path | None,
    splits: list[int],
    seeds: int,
    workers: int,
    console: Console,
) -> int:
    """Trains one run, or several and their mean; returns the exit code."""
    check_seeds(seeds)
    show_warnings_plainly()
    if resume is not None:
        return _train_one(recipe, resume, True, console)
    check_workers(workers, len(splits) * seeds, "--split all or --seeds 5 make several")
    check_splits(recipe, splits)
    if len(splits) * seeds > 1:
        return several.train(recipe, name, out, splits, seeds, workers, console)
    one = replace(recipe, data=replace(recipe.data, split=splits[0]))
    return _train_one(one, out or next(place for place in several.folders(name) if not place.exists()), False, console)


def _train_one(recipe: Recipe, out: Path, resuming: bool, console: Console) -> int:
    named = shlex.quote(str(out))
    known: list[tuple[Any, Any, str]] = []
    with reporting(console) as make:

        def reporter(recipe: Recipe, dataset: Any, spec: Any, model: Any) -> Any:
            metric = measures.choose_metric(spec, recipe.trainer.metric)
            parameters = sum(p.numel() for p in model.parameters())
            console.print(Text.assemble((recipe.model.name, "bold"), f" on {dataset.name}, {dataset.split}"))
            for note in dataset.notes:
                console.print(f"  {note}", highlight=False, style="dim")
            chosen = f"selected on validation {metric}, {measures.direction(metric)}"
            if not len(dataset.split.val):
                chosen = "no validation part, the weights of the last epoch are kept"
            console.print(f"  {parameters:,} parameters; {chosen}", highlight=False)
            known.append((dataset, spec, metric))
            return make(out.name, recipe.trainer.epochs)

        result = run.train(recipe, out, resume=resuming, reporter=reporter)
    if distributed.is_initialized():  # what is measured from here on is no longer measured together
        distributed.destroy_process_group()
    if os.environ.get("LOCAL_RANK", "0") != "0":  # one of several processes, and not the one that talks
        return 0
    if result is None:
        say(console, f"Saved. Go on with: graphcon train --resume {named}")
        return 130
    _print_result(result, baseline(*known[0]), console)
    # A rate that falls with the share of the epochs has ended at nothing: there the last epoch is mostly the best.
    if recipe.schedule.name in ("none", "plateau") and _ended_at_its_best(result):
        again = f"graphcon train --resume {named} --trainer.epochs {2 * result['epochs']}"
        say(console, f"It was still improving; train on with: {again}")
    say(console, f"Run  {out}\nNext graphcon report {named}\n     graphcon predict {named} --out predictions.csv")
    return 0


def _ended_at_its_best(result: dict[str, Any]) -> bool:
    return result["stopped"] == "epochs" and result["best_epoch"] == result["epochs"]


def _print_result(result: dict[str, Any], constant: Baseline, console: Console) -> None:
    """Shows how a training ended."""
    best, epochs = result["best_epoch"], result["epochs"]
    chosen = f"best epoch {best} of {epochs}" if best else f"the last epoch, {epochs}, is kept: {run.why_last(result)}"
    console.print(f"{chosen}; {run.ENDED[result['stopped']]}", highlight=False, style="italic")
    if not any(part in result for part in run.PARTS):
        console.print("Nothing is held out to measure on", highlight=False)
        return
    console.print(_metrics_table({part: result[part] for part in run.PARTS if part in result}, constant))


def _metrics_table(result: dict[str, dict[str, float]], constant: Baseline | None = None) -> Table:
    """A row per part, and below the last what needs no model to reach."""
    table = Table(box=SIMPLE)
    table.add_column("")
    part = list(result)[-1]
    names = list(result[part])
    for name in names:
        table.add_column(name, justify="right")
    rows = {run.PARTS.get(part, part): values for part, values in result.items()}
    if constant is not None:
        rows[f"{run.PARTS[part]}, {constant.words}"] = constant.metrics[part]
    for title, values in rows.items():
        table.add_row(title, *(shown(values[name]) for name in names))
    return table


def evaluate(
    path: Path, nodes: Path | None, edges: Path | None, graphs: Path | None, console: Console, as_json: bool
) -> None:
    """Measures a run on its held-out part, or on given tables that hold the target."""
    trained, about, constant = run.load(path), {}, None
    if nodes is None and edges is None and graphs is None:
        fabric, dataset = run.make_fabric(run.one_device(trained.recipe)), trained.dataset()
        result: dict[str, dict[str, float]] = run.measure(trained.model, dataset, trained.spec, trained.recipe, fabric)
        if not result:
            raise InputError(
                f"{path}: was trained without a validation and a test part, so there is nothing to measure it on. "
                "Name tables with --nodes and --edges, or train anew and hold a part out"
            )
        folder = RunFolder.open(path)
        ended = folder.finished()
        if ended and defined(ended | result) != defined(ended):  # somebody else's run can be measured without a change
            folder.save_metrics(ended | result)
        metric = measures.choose_metric(trained.spec, trained.recipe.trainer.metric)
        constant = baseline(dataset, trained.spec, metric)
    else:
        if trained.schema is None:
            raise InputError(f"{path} was not trained on tables: leave out --nodes to measure it on its own data")
        if nodes is None or edges is None:
            raise InputError(f"{'--nodes' if nodes is None else '--edges'} is missing: new data are two tables")
        scored = predicting.score(trained, nodes, edges, graphs)
        result, about = {"given": scored.metrics}, {"rows": scored.rows, "notes": scored.notes}
    if as_json:
        print(json.dumps(defined(result) | about, indent=1))
        return
    _print_notes(about.get("notes", ()), console)
    console.print(_metrics_table(result, constant))
    if about:
        console.print(f"Rows with a target: {about['rows']:,}", highlight=False)


def predict(
    path: Path, nodes: Path | None, edges: Path | None, graphs: Path | None, out: Path, console: Console
) -> None:
    """Writes the answers of a run."""
    of_training = own_files(RunFolder.open(path).recipe().data).values()
    predicting.check_target_file(out, [*filter(None, (nodes, edges, graphs)), *of_training])
    trained = run.load(path)
    table, notes = predicting.predict(trained, nodes, edges, graphs)
    predicting.write_table(table, out, trained.schema)
    _print_notes(notes, console)
    say(console, f"{len(table):,} rows  {out}")


def _print_notes(notes: Sequence[str], console: Console) -> None:
    for note in notes:
        console.print(note, highlight=False, style="dim")


def export(path: Path, out: Path | None, console: Console) -> None:
    """Writes a program."""
    target = out or path / "model.pt2"
    if target.suffix != ".pt2":
        raise InputError(f"--out {target}: must end in .pt2")
    show_warnings_plainly()
    trained = run.load(path)
    told = exporting.export(trained, target)
    order = ", ".join(name if needed else "None" for name, needed in told["arguments"].items())
    say(
        console,
        f"{target}\nChecked on a graph of another size: largest difference {told['difference']:.1e}.\n"
        f"Use: torch.export.load({str(target)!r}).module()({order})",
    )
    if trained.recipe.data.normalize:
        say(console, "data.normalize: x / x.sum(-1, keepdim=True).clamp(min=1) is what it takes for x")


def tune(
    recipe: Recipe,
    folder: Path,
    trials: int,
    splits: list[int],
    seeds: int,
    metric: str | None,
    finalists: int,
    workers: int,
    console: Console,
) -> None:
    """Searches, and shows what mattered."""
    check_seeds(seeds)
    check_workers(workers)
    check_splits(recipe, splits)
    show_warnings_plainly()
    with reporting(console) as make:
        try:
            found = tuning.tune(
                recipe,
                folder,
                trials,
                lambda name: make(name, recipe.trainer.epochs),
                splits,
                seeds,
                metric,
                finalists,
                workers,
                lambda line: console.print(line, highlight=False),
            )
        except KeyboardInterrupt:
            best = folder / "best.toml"
            so_far = f" The best so far  {best}" if best.exists() else ""
            say(console, f"Stopped; the same command goes on.{so_far}")
            raise
    table = titled_table(f"best validation {found.metric}: {shown(found.value)}")
    for column in ("setting", "best", *(["importance"] if found.importance else [])):
        table.add_column(column)
    for field in found.recipe.search:
        best = recipes.value(found.recipe, field)
        told = f"{best:.4g}" if isinstance(best, float) else f"{best}"
        mattered = f"{found.importance[field]:.2f}" if field in found.importance else "–"
        table.add_row(field, told, *([mattered] if found.importance else []))
    console.print(table)
    if found.finalists:
        console.print(_finalists(found.finalists))
    say(
        console,
        f"{found.trials} trial{'s' if found.trials > 1 else ''}, {found.pruned} given up early, {found.failed} failed\n"
        f"Best recipe  {folder / 'best.toml'}\nNext graphcon train {shlex.quote(str(folder / 'best.toml'))}",
    )


def _finalists(finalists: Sequence[tuning.Finalist]) -> Table:
    table = titled_table(f"finalists, with {FINAL_SEEDS} other seeds")
    for column in ("trial", "in the search", "once more"):
        table.add_column(column, justify="right")
    for finalist in finalists:
        table.add_row(str(finalist.trial), shown(finalist.searched), shown(finalist.value))
    return table


def check_seeds(seeds: int) -> None:
    """Refuses to train with no seed at all."""
    if seeds < 1:
        raise InputError(f"--seeds {seeds}: at least one is needed")


def check_splits(recipe: Recipe, splits: list[int]) -> None:
    """Refuses to take one split for several."""
    if not any(splits):
        return
    dataset, _ = load_dataset(replace(recipe.data, split=splits[0]), with_test=False)
    if dataset.split.seed is None:
        raise InputError(
            f"--split {','.join(map(str, splits))}: {dataset.name} has one split, {dataset.split.name!r}. "
            "Leave it out; --seeds 5 trains five times on it"
        )
