"""Several models at several depths, trained alike: the cells of `graphcon compare`, each a run that can be resumed."""

import copy
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from graphcon._files import numbers, write_json
from graphcon._processes import in_processes, threads_each, told_to_stop
from graphcon.data import GraphDataset
from graphcon.diagnostics import dirichlet_energy, effective_rank
from graphcon.errors import InputError
from graphcon.experiments.peak import peak_bytes
from graphcon.models import find
from graphcon.training import run
from graphcon.training.batches import Batches, apply
from graphcon.training.config import Recipe
from graphcon.training.folder import RunFolder
from graphcon.training.loop import LossError, Reporter
from graphcon.training.metrics import choose_metric
from graphcon.training.model import TaskModel, build, for_model
from graphcon.training.progress import show_warnings_plainly
from graphcon.training.resume import check_same
from graphcon.training.spec import TaskSpec


@dataclass(frozen=True)
class Cell:
    """One training: a model, a depth, a seed."""

    model: str
    depth: int
    seed: int

    @property
    def name(self) -> str:
        """Its folder."""
        return f"{self.model}-{self.depth}-seed-{self.seed}"


@dataclass(frozen=True)
class Row:
    """How a cell did: one line of compare.csv.

    Attributes:
        model: The model.
        depth: Its layers or steps.
        seed: The seed of the weights, the batches and the dropout.
        metric: What the weights were selected by, on validation.
        val: The metric on validation; NaN, as all that is measured, where the loss became infinite.
        test: The metric on test data, read once, when training had ended.
        energy: The Dirichlet energy of the last state.
        effective_rank: The effective rank of the last state.
        seconds: How long the training took.
        memory_mb: By how much memory grows during a training step; None where the system does not tell.
        parameters: How many the model has.
        epochs: How many it was trained.
    """

    model: str
    depth: int
    seed: int
    metric: str
    val: float | None
    test: float | None
    energy: float
    effective_rank: float
    seconds: float
    memory_mb: float | None
    parameters: int
    epochs: int


def plan(recipe: Recipe, models: Sequence[str], depths: Sequence[int], seeds: int) -> dict[Cell, Recipe]:
    """The recipe of every cell: the same data, optimiser and epochs for all, and each model's own defaults.

    Raises:
        InputError: A model is unknown, or options are given and none of the models is theirs.
    """
    for name in models:
        try:
            find(name)
        except ValueError as error:
            raise InputError(f"--models: {error}") from None
    if recipe.model.options and recipe.model.name not in models:
        raise InputError(
            f"model.options has {', '.join(recipe.model.options)} for model.name = {recipe.model.name!r}, which is not "
            "among --models: say by --model.name whose options they are, or leave them out"
        )
    cells = {}
    for depth in depths:
        for name in models:
            model = replace(for_model(recipe.model, name), steps=depth)
            for seed in range(recipe.seed, recipe.seed + seeds):
                cells[Cell(name, depth, seed)] = replace(recipe, model=model, seed=seed, search={})
    return cells


def run_cells(
    cells: dict[Cell, Recipe], out: Path, reporter: Callable[[Cell], Reporter | None] = lambda _: None, workers: int = 1
) -> Iterator[tuple[Cell, Row | None]]:
    """Trains what is not yet there and yields every cell with its row, as they are done.

    A row that is None was stopped by the user; there is nothing after it.

    Args:
        cells: The cells with their recipes.
        out: The folder in which every cell has its run folder.
        reporter: Makes whom to tell how a cell goes, where there is one process.
        workers: Number of processes.
    """
    if workers > 1:
        jobs = {cell: (cell, recipe, out, threads_each(workers)) for cell, recipe in cells.items()}
        yield from in_processes(_in_a_process, jobs, workers)
        return
    for cell, recipe in cells.items():
        row = run_cell(cell, recipe, out, reporter)
        yield cell, row
        if row is None:
            return


def run_cell(
    cell: Cell,
    recipe: Recipe,
    out: Path,
    reporter: Callable[[Cell], Reporter | None] | None = None,
    threads: int | None = None,
) -> Row | None:
    """The row of a cell, trained where it is not there yet; None if the user stops it.

    Args:
        cell: The cell.
        recipe: Its recipe.
        out: The folder in which it has its run folder.
        reporter: Makes whom to tell how it goes.
        threads: How many it takes where the recipe does not say.
    """
    folder = RunFolder(out / cell.name)
    file = folder.path / "compare.json"
    check_same(folder.path, recipe)
    if not file.exists():
        bar = reporter(cell) if reporter is not None else None
        told = None if bar is None else (lambda *_: bar)
        try:
            ended = run.finish(recipe, folder.path, threads=threads, reporter=told)
        except LossError:  # is a result too
            write_json(file, asdict(_diverged(cell, folder)))
        else:
            if ended is None:
                return None
            write_json(file, asdict(_measure(cell, folder)))
    return _row(file)


def _in_a_process(cell: Cell, recipe: Recipe, out: Path, threads: int) -> Row | None:
    if told_to_stop():
        return None
    show_warnings_plainly()
    return run_cell(cell, recipe, out, threads=threads)


def _row(file: Path) -> Row:
    try:
        return Row(**numbers(json.loads(file.read_text(encoding="utf-8"))))
    except (TypeError, ValueError):
        raise InputError(
            f"{file}: is not what was written there. Delete it: the same command measures the run again"
        ) from None


def _measure(cell: Cell, folder: RunFolder) -> Row:
    trained, metrics = run.load(folder.path), folder.read_json(folder.metrics_file)
    dataset = trained.dataset()
    fabric = run.make_fabric(Recipe())  # one processor, where the model is, wherever it was trained
    batches = Batches(dataset, replace(trained.recipe.data, workers=0), cell.seed, fabric)
    data = _seen(dataset, batches)
    state = last_state(trained.model, data)
    batch, metric = data.get("batch"), metrics["metric"]
    return Row(
        cell.model,
        cell.depth,
        cell.seed,
        metric,
        metrics.get("val", {}).get(metric),
        metrics.get("test", {}).get(metric),
        float(dirichlet_energy(state.double(), data.edge_index, batch).mean()),  # pyright: ignore[reportArgumentType]  # data of one graph have edges
        float(effective_rank(state, batch).mean()),
        folder.seconds(),
        _megabytes(trained.model, batches),
        metrics["parameters"],
        metrics["epochs"],
    )


def _diverged(cell: Cell, folder: RunFolder) -> Row:
    """The row of a training whose loss became NaN or infinite: nothing is measured, and what was spent is told."""
    recipe, spec = folder.recipe(), TaskSpec.from_dict(folder.read_json(folder.model_file)["task"])
    metric = choose_metric(spec, recipe.trainer.metric)
    spent = (folder.records() or [{"seconds": 0.0, "epoch": 0}])[-1]
    return Row(
        cell.model,
        cell.depth,
        cell.seed,
        metric,
        val=math.nan,
        test=math.nan,
        energy=math.nan,
        effective_rank=math.nan,
        seconds=spent["seconds"],
        memory_mb=math.nan,
        parameters=sum(p.numel() for p in build(recipe.model, spec).parameters()),
        epochs=spent["epoch"],
    )


def _seen(dataset: GraphDataset, batches: Batches) -> Data:
    """What states are measured on: the whole graph, or a batch of validation graphs; targets play no part."""
    part = "val" if batches.has("val") else "train"
    return dataset.data if dataset.split.unit == "node" else next(batches.of(part)).data


@torch.no_grad()
def last_state(model: TaskModel, data: Data) -> Tensor:
    """What the core of a network hands to the decoder, ``[nodes, channels]``."""
    kept: list[Tensor] = []
    handle = model.net.core.register_forward_hook(lambda *called: kept.append(called[-1]))
    model.eval()
    apply(model, data)
    handle.remove()
    return kept[-1]


def _megabytes(model: TaskModel, batches: Batches) -> float | None:
    model = copy.deepcopy(model).train()
    batch: Any = next(batches.of("train"))

    def step() -> None:
        model.zero_grad()
        batch.run(model).square().mean().backward()

    grown = peak_bytes(step)
    return None if grown is None else round(grown / 2**20, 1)
