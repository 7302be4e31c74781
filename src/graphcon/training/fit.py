"""Training and measuring for those who prefer Python."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric
from torch.nn import Module
from torch_geometric.data import Batch, Data

from graphcon._calling import evaluating
from graphcon._files import write_json
from graphcon.data import GraphDataset, Split, convert
from graphcon.errors import InputError
from graphcon.training import identity, recipes
from graphcon.training.batches import Batches
from graphcon.training.config import DataConfig, Recipe
from graphcon.training.folder import RunFolder
from graphcon.training.interrupt import gently
from graphcon.training.loop import Fitted, Reporter, fit_loop
from graphcon.training.loop import evaluate as measure_part
from graphcon.training.metrics import build_metrics
from graphcon.training.run import make_fabric
from graphcon.training.spec import TaskSpec, training_targets


def fit(
    model: Module,
    data: GraphDataset | Data | Sequence[Data],
    *,
    split: Split | None = None,
    epochs: int = 200,
    lr: float = 0.01,
    weight_decay: float = 0.0,
    optimizer: str = "adam",
    schedule: str = "none",
    clip: float | None = None,
    batch_size: int = 128,
    metric: str | None = None,
    loss: str | None = None,
    patience: int = 50,
    validate_every: int | None = None,
    class_weights: bool = False,
    precision: str = "32-true",
    accelerator: str = "cpu",
    seed: int = 0,
    out: str | Path | None = None,
    reporter: Reporter | None = None,
) -> Fitted:
    """Trains any model with the loop of ``graphcon train`` and leaves its best weights in it.

    Args:
        model (torch.nn.Module): A model of PyG or of one's own. It is called with all that its forward names of the
            data, as in ``forward(x, edge_index, edge_type)``, but the targets ``y``.
        data: A data set of :mod:`graphcon.data`, one PyG graph with its masks, or a list of graphs.
        split (Split, optional): Which part is for what. (default: the data's own)
        epochs (int, optional): The most epochs. (default: :obj:`200`)
        lr (float, optional): The learning rate. (default: :obj:`0.01`)
        weight_decay (float, optional): Decay of the weights. (default: :obj:`0.0`)
        optimizer (str, optional): ``adam``, ``adamw``, ``adamax`` or ``sgd``. (default: :obj:`"adam"`)
        schedule (str, optional): ``none``, ``cosine``, ``one-cycle`` or ``plateau``. (default: :obj:`"none"`)
        clip (float, optional): Largest norm of the gradient. (default: none)
        batch_size (int, optional): Graphs per batch. (default: :obj:`128`)
        metric (str, optional): What selects the weights on validation. (default: by the kind of target)
        loss (str, optional): What is minimised. (default: by the kind of target)
        patience (int, optional): Epochs without improvement before it stops; 0 for never. (default: :obj:`50`)
        validate_every (int, optional): Epochs between validations. (default: 5 for one graph, 1 for batches)
        class_weights (bool, optional): Whether rare classes count more. (default: :obj:`False`)
        precision (str, optional): ``32-true``, ``bf16-mixed`` or ``16-mixed``. (default: :obj:`"32-true"`)
        accelerator (str, optional): ``cpu``, ``cuda``, ``mps`` or ``auto``. (default: :obj:`"cpu"`)
        seed (int, optional): Seed of the batches and the dropout; what you draw yourself is not touched by
            it. (default: :obj:`0`)
        out (str or Path, optional): A folder for the log and the checkpoints; the same training resumes there.
            The model is yours to build: ``graphcon.load`` is for the folders of ``graphcon train``.
        reporter (optional): Its ``epoch(record)`` is called after every epoch, and its ``running(record)``, if it has
            one, between the batches of an epoch.

    Returns:
        How it ended, with epochs, best epoch, metric, value, seconds and why it stopped.
    """
    dataset = _taken(data, split, seed)
    told = {
        "seed": seed,
        "data.batch_size": batch_size,
        "optimizer.name": optimizer,
        "optimizer.lr": lr,
        "optimizer.weight_decay": weight_decay,
        "optimizer.clip": clip,
        "schedule.name": schedule,
        "trainer.epochs": epochs,
        "trainer.patience": patience,
        "trainer.validate_every": validate_every,
        "trainer.metric": metric,
        "trainer.loss": loss,
        "trainer.class_weights": class_weights,
        "trainer.precision": precision,
        "trainer.accelerator": accelerator,
    }
    with _as_arguments(told):
        recipe = recipes.replace(Recipe(), {field: value for field, value in told.items() if value is not None})
        fabric = make_fabric(recipe)
    _check_trainable(model)
    folder = None if out is None else _folder(Path(out), model, dataset, recipe)
    kept = nullcontext() if folder is None else folder.held()
    with kept, gently(), _own_random_numbers(fabric), _as_arguments(told):
        return fit_loop(model, dataset, TaskSpec.of(dataset), recipe, fabric, folder, reporter)


def evaluate(
    model: Module,
    data: GraphDataset | Data | Sequence[Data],
    part: str = "test",
    *,
    split: Split | None = None,
    batch_size: int = 128,
    precision: str = "32-true",
    accelerator: str = "cpu",
    seed: int = 0,
) -> dict[str, float]:
    """The metrics of any model on a part of the data, as ``graphcon evaluate`` has them.

    Args:
        model (torch.nn.Module): A model as :func:`graphcon.fit` takes it; it is left as it is.
        data: The data that it was fitted on, or others with the same classes or values.
        part (str, optional): ``train``, ``val`` or ``test``. (default: :obj:`"test"`)
        split (Split, optional): Which part is for what. (default: the data's own)
        batch_size (int, optional): Graphs per batch. (default: :obj:`128`)
        precision (str, optional): ``32-true``, ``bf16-mixed`` or ``16-mixed``. (default: :obj:`"32-true"`)
        accelerator (str, optional): ``cpu``, ``cuda``, ``mps`` or ``auto``. (default: :obj:`"cpu"`)
        seed (int, optional): As it was given to :func:`graphcon.fit`: graphs without masks are divided by it.
            (default: :obj:`0`)

    Returns:
        The metrics by name, such as accuracy for classes and errors for values.
    """
    dataset = _taken(data, split, seed)
    parts = [name for name, index in dataset.split.parts() if len(index)]
    if part not in parts:
        raise InputError(f"part={part!r}: {dataset.name} has {', '.join(parts)}")
    where = {"trainer.precision": precision, "trainer.accelerator": accelerator}
    with _as_arguments(where):
        fabric = make_fabric(recipes.replace(Recipe(), where))
    spec = TaskSpec.of(dataset)
    batches = Batches(dataset, DataConfig(batch_size=batch_size), seed, fabric)
    with evaluating(model), _own_random_numbers(fabric):
        return measure_part(fabric.setup_module(model), batches, spec, part, build_metrics(spec).to(fabric.device))


def _taken(data: GraphDataset | Data | Sequence[Data], split: Split | None, seed: int) -> GraphDataset:
    if isinstance(data, str | Path):
        raise TypeError(f"data={str(data)!r} is a name: load it first, e.g. graphcon.data.load({str(data)!r})")
    if split is not None and not isinstance(split, Split):
        raise TypeError(
            f"split is a {type(split).__name__}, but must be a graphcon.data.Split, e.g. "
            "Split('own', train, val, test, size=data.num_nodes), of the indices of each part"
        )
    return (
        _split_anew(data, split) if isinstance(data, GraphDataset) else convert.from_pyg(data, split=split, seed=seed)
    )


@contextmanager
def _as_arguments(told: Iterable[str]) -> Iterator[None]:
    """Within this context errors name the arguments, ``epochs`` or ``optimizer``, and not the fields of a recipe."""
    try:
        yield
    except InputError as error:
        message = str(error).removeprefix("the changed recipe: ")
        for field in told:
            message = message.replace(field, field.removesuffix(".name").split(".")[-1])
        error.args = (message,)
        raise


def _check_trainable(model: Module) -> None:
    """Refuses what is no model, and a model of which nothing would learn."""
    if not isinstance(model, Module):
        told = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise TypeError(f"model is {told}, but must be a torch.nn.Module: build it first")
    if not any(parameter.requires_grad for parameter in model.parameters()):
        held = "has no weights" if not list(model.parameters()) else "is frozen, its weights have requires_grad=False"
        raise InputError(
            f"model={type(model).__name__} {held}: there is nothing to train. Call model.requires_grad_(), or measure "
            "it as it is with graphcon.evaluate"
        )


def _own_random_numbers(fabric: Fabric) -> AbstractContextManager[None]:
    """What the caller draws next is what would have been drawn without this."""
    return torch.random.fork_rng(devices=None if fabric.device.type == "cuda" else [])


def _split_anew(dataset: GraphDataset, split: Split | None) -> GraphDataset:
    if split is None:
        return dataset
    if (split.unit, split.size) != (dataset.split.unit, dataset.split.size):
        raise InputError(
            f"split={split} divides {split.size:,} {split.unit}s, but {dataset.name} has "
            f"{dataset.split.size:,} {dataset.split.unit}s to divide"
        )
    return replace(dataset, split=split)


def _folder(path: Path, model: Module, dataset: GraphDataset, recipe: Recipe) -> RunFolder:
    """The folder, new or of the very same training: it may go on for longer and elsewhere, not with something else."""
    told, file = _facts(model, dataset, recipe), path / "fit.json"
    _check_place(path)
    try:
        before = dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else told
    except (ValueError, TypeError) as error:
        raise InputError(f"{file}: cannot be read ({error}). Delete it, and fit once more") from None
    known = {what: [facts] if isinstance(facts, str) else facts for what, facts in before.items()}
    other = [what for what, facts in told.items() if what not in known or known[what] != facts[: len(known[what])]]
    if other:
        raise InputError(
            f"out={str(path)!r} holds a training with other {' and '.join(other)}: name another folder, or delete it"
        )
    if known != told:
        raise InputError(
            f"out={str(path)!r} holds a training of an earlier graphcon, which did not note all that tells it from "
            f"another. Name another folder; or if model and data are those of then, delete {file}, and fit goes on"
        )
    path.mkdir(parents=True, exist_ok=True)
    write_json(file, told)
    return RunFolder(path)


def _facts(model: Module, dataset: GraphDataset, recipe: Recipe) -> dict[str, list[str]]:
    """What tells this training from another, in the words of the messages; the first of each is all that once was."""
    same = recipes.essence(replace(recipe, trainer=replace(recipe.trainer, epochs=1, patience=0)))
    parts = [index for _, index in dataset.split.parts()]
    content = [part.numpy().tobytes() for part in (*parts, training_targets(dataset))]
    first: Any = dataset.graphs[0] if dataset.split.unit == "node" else Batch.from_data_list([dataset.graphs[0]])
    data = f"{dataset.name} {hashlib.sha256(b''.join(content)).hexdigest()}"
    return {
        "settings": [recipes.to_toml(same)],
        "model": [str(model), identity.of_model(model, first)],
        "data": [data, identity.of_graphs(model, dataset.graphs)],
    }


def _check_place(path: Path) -> None:
    """Refuses a file in the place of the folder, and the folder of something else."""
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            raise InputError(f"out={str(path)!r}: {place} is a file, but a folder is needed; name another one")
    if (path / "recipe.toml").exists():
        raise InputError(f"out={str(path)!r}: there is a run of graphcon train in it; name another folder")
