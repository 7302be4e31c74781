"""A training run from a recipe to a folder, and back from the folder to a model."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric

from graphcon._files import write_json, write_whole
from graphcon._processes import leave_with_parent
from graphcon._ranges import check_ranges
from graphcon.data import GraphDataset, TableSchema
from graphcon.errors import InputError
from graphcon.training import metrics as measures
from graphcon.training import recipes
from graphcon.training.batches import Batches, mix
from graphcon.training.config import ModelConfig, Recipe
from graphcon.training.folder import RunFolder
from graphcon.training.interrupt import gently
from graphcon.training.load_data import load_dataset
from graphcon.training.loop import Fitted, Reporter, evaluate, fit_loop, rehearse
from graphcon.training.model import TaskModel, build, named
from graphcon.training.own_files import check_unchanged, fingerprints, placed
from graphcon.training.resume import check_resumed
from graphcon.training.spec import TaskSpec
from graphcon.training.tensorboard import TensorBoardReporter, find_writer

#: The parts that a run is measured on, with their names.
PARTS = {"val": "validation", "test": "test"}
#: Why a training ended, in words.
ENDED = {
    "epochs": "training ran to its last epoch",
    "patience": "training stopped when validation no longer improved",
    "learning rate": "training stopped at the smallest learning rate",
}
#: A model that takes features of edges, to recommend.
TAKES_EDGES = "graphcon-gat"


def train(
    recipe: Recipe,
    out: Path,
    *,
    resume: bool = False,
    reporter: Callable[[Recipe, GraphDataset, TaskSpec, TaskModel], Reporter] | None = None,
) -> dict[str, Any] | None:
    """Trains a recipe in a folder; test data are read once, at the end.

    Args:
        recipe: The recipe.
        out: The run folder, new unless resumed.
        resume: Whether to go on with the run that is there.
        reporter: Makes whom to tell how it goes, when the data and the model are known.

    Returns:
        The metrics, or None if the user stopped the run.
    """
    check_ranges(recipe)
    if resume:
        check_resumed(out, recipe)
    if recipe.trainer.threads is not None:
        torch.set_num_threads(recipe.trainer.threads)
    dataset, schema = load_dataset(recipe.data)  # by the paths that the user gave, for the messages
    recipe = placed(recipe)
    if recipe.trainer.devices > 1 and dataset.split.unit == "node":
        raise InputError(
            f"trainer.devices = {recipe.trainer.devices}, but {dataset.name} is one graph, which is trained whole: "
            "use one device"
        )
    if recipe.data.batching == "vr-gcn" and recipe.trainer.precision != "32-true":
        raise InputError(f"trainer.precision = {recipe.trainer.precision!r}: vr-gcn computes in 32-true only")
    if resume:
        dataset = replace(dataset, notes=(*dataset.notes, *RunFolder(out).other_versions()))
    spec = TaskSpec.of(dataset)
    torch.manual_seed(mix(recipe.seed, -1))
    model = build(recipe.model, spec)
    if schema is not None:
        dataset = replace(dataset, notes=(*dataset.notes, *_unused_columns(schema, recipe.model, model)))
    fabric = make_fabric(recipe)
    if recipe.trainer.tensorboard:
        find_writer()
    if not resume:
        rehearse(model, dataset, spec, recipe, fabric)
    folder = RunFolder(out)
    if fabric.is_global_zero and not resume:
        folder.check_free()
        out.mkdir(parents=True, exist_ok=True)
    with folder.held() if fabric.is_global_zero else nullcontext():
        told = None
        if fabric.is_global_zero:
            if not resume:  # of two that begin at the same time, the first has the folder
                RunFolder.create(out, recipe)
            write_whole(folder.recipe_file, recipes.to_toml(recipe))
            write_json(folder.model_file, _description(recipe, spec, schema))
            told = reporter(recipe, dataset, spec, model) if reporter is not None else None
            if recipe.trainer.tensorboard:
                told = TensorBoardReporter(folder.path / "tensorboard", told)
        fabric.barrier()  # the other processes find the folder as the first has left it
        with gently():
            fitted = fit_loop(model, dataset, spec, recipe, fabric, folder, told)
        if fitted.stopped == "interrupted":
            return None
        result = _result(fitted, model) | measure(model, dataset, spec, recipe, fabric)
        if fabric.is_global_zero:
            folder.save_metrics(result)
        return result


def finish(
    recipe: Recipe,
    out: Path,
    *,
    threads: int | None = None,
    reporter: Callable[[Recipe, GraphDataset, TaskSpec, TaskModel], Reporter] | None = None,
) -> dict[str, Any] | None:
    """What one of several runs comes to: trained, resumed where it was stopped, or read where it has ended.

    Args:
        recipe: The recipe.
        out: The run folder.
        threads: How many it takes where the recipe does not say.
        reporter: Makes whom to tell how it goes.

    Returns:
        The metrics, or None if the user stopped the run.
    """
    folder = RunFolder(out)
    if (ended := folder.finished()) is not None:
        return ended
    placed = replace(recipe, trainer=replace(recipe.trainer, threads=recipe.trainer.threads or threads))
    return train(placed, out, resume=folder.recipe_file.exists(), reporter=reporter)


def make_fabric(recipe: Recipe) -> Fabric:
    """Devices and precision of a recipe."""
    trainer = recipe.trainer
    try:
        fabric = Fabric(accelerator=trainer.accelerator, devices=trainer.devices, precision=trainer.precision)
    except Exception as error:  # Lightning raises many kinds for a device that is not there
        raise InputError(
            f"trainer.accelerator = {trainer.accelerator!r}, devices = {trainer.devices}: {error}"
        ) from None
    fabric.launch()
    if not fabric.is_global_zero:
        leave_with_parent()
    return fabric


def check_one_device(recipe: Recipe) -> None:
    """Refuses several devices where there are several trainings: each process of a training repeats its command."""
    if recipe.trainer.devices > 1:
        raise InputError(
            f"--devices {recipe.trainer.devices}: is for a single training, and there are several. Say --devices 1; "
            "--workers 2 trains two at a time"
        )


def one_device(recipe: Recipe) -> Recipe:
    """The recipe for this process alone: on one device, and on the processor where the recipe's own is not there."""
    lacking = {"cuda": not torch.cuda.is_available(), "mps": not torch.backends.mps.is_available()}
    accelerator = "cpu" if lacking.get(recipe.trainer.accelerator) else recipe.trainer.accelerator
    return replace(recipe, trainer=replace(recipe.trainer, devices=1, accelerator=accelerator))


def measure(
    model: TaskModel, dataset: GraphDataset, spec: TaskSpec, recipe: Recipe, fabric: Fabric
) -> dict[str, dict[str, float]]:
    """All metrics on the validation and the test part."""
    batches = Batches(dataset, replace(recipe.data, workers=0, batching="whole"), recipe.seed, fabric)
    placed = fabric.setup_module(model)
    collection = measures.build_metrics(spec).to(fabric.device)
    return {part: evaluate(placed, batches, spec, part, collection) for part in PARTS if batches.has(part)}


@dataclass(frozen=True)
class Trained:
    """A model from a run folder, with all that is needed to use it.

    Attributes:
        model: The network, in evaluation mode, with the weights that were best on validation; without one, the last.
        spec: The task.
        recipe: The recipe of the run.
        schema: How its tables were read, without the edges' columns that it does not use; None for a named set.
        folder: The run folder.
        files: The fingerprints of the user's own files that it was trained on.
    """

    model: TaskModel
    spec: TaskSpec
    recipe: Recipe
    schema: TableSchema | None
    folder: Path
    files: dict[str, str] = field(default_factory=dict)

    def dataset(self) -> GraphDataset:
        """The data that it was trained on.

        Raises:
            InputError: A file of them has moved or changed since.
        """
        check_unchanged(self.folder, self.recipe.data, self.files)
        return load_dataset(self.recipe.data)[0]


def load(path: str | Path) -> Trained:
    """The trained model in a run folder.

    Raises:
        InputError: There is no run, or it has not come to its first checkpoint.
    """
    folder = RunFolder.open(Path(path))
    description = folder.read_json(folder.model_file)
    try:
        recipe = recipes.from_dict(description["recipe"], str(folder.model_file))
        spec = TaskSpec.from_dict(description["task"])
        schema = _used(TableSchema.from_dict(description["schema"]), recipe.model) if description["schema"] else None
    except (AttributeError, KeyError, TypeError) as error:
        raise folder.damaged(folder.model_file, f"it lacks {error}") from None
    model, weights = build(recipe.model, spec), folder.load_weights()
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise folder.damaged(folder.best_file, error) from None
    return Trained(model.eval(), spec, recipe, schema, folder.path, description.get("files", {}))


def _unused_columns(schema: TableSchema, config: ModelConfig, model: TaskModel) -> list[str]:
    """Notes on the columns of edges that a model makes no use of."""
    notes = []
    if schema.edges.weight is not None and not model.net.supports_edge_weight:
        notes.append(f"weights of the edges, in {schema.edges.weight}: {config.name} does not use them, gcn does.")
    if schema.edge_columns and not config.edge_features:
        names = ", ".join(column.name for column in schema.edge_columns)
        cure = "say --model.edge-features to use them"
        if "edge_dim" not in named(config.name).options:
            cure = f"{config.name} takes none, {TAKES_EDGES} does with --model.edge-features"
        notes.append(f"columns of the edges that the model does not use: {names}; {cure}.")
    return notes


def _used(schema: TableSchema, model: ModelConfig) -> TableSchema:
    """The schema without the columns of edges that a model makes no use of: new tables need not have them."""
    if model.edge_features:
        return schema
    unused = (column.name for column in schema.edge_columns)
    return replace(schema, edge_columns=(), ignored=(*schema.ignored, *unused))


def why_last(result: dict[str, Any]) -> str:
    """Why the weights of a run are those of its last epoch, and of none that was best."""
    return "validation gave no number" if "val" in result else "there is no validation part"


def _description(recipe: Recipe, spec: TaskSpec, schema: TableSchema | None) -> dict[str, Any]:
    return {
        "recipe": recipes.to_dict(recipe),
        "task": spec.to_dict(),
        "schema": schema.to_dict() if schema is not None else None,
        "files": fingerprints(recipe.data),
    }


def _result(fitted: Fitted, model: TaskModel) -> dict[str, Any]:
    return {
        "metric": fitted.metric,
        "direction": measures.direction(fitted.metric),
        "best_epoch": fitted.best_epoch,
        "epochs": fitted.epochs,
        "stopped": fitted.stopped,
        "parameters": sum(p.numel() for p in model.parameters()),
    }
