"""The measures of a run's states and gradients."""

from typing import Any

import polars as pl
from torch_geometric.data import Batch

from graphcon.data import GraphDataset
from graphcon.diagnostics import trajectory_table
from graphcon.errors import InputError
from graphcon.training import metrics as measures
from graphcon.training.config import Recipe
from graphcon.training.model import TaskModel
from graphcon.training.spec import TaskSpec, has_target

#: Graphs that are looked at, where there are many.
GRAPHS = 64


def table_of(model: TaskModel, dataset: GraphDataset, spec: TaskSpec, recipe: Recipe) -> pl.DataFrame:
    """All measures per step: of the states on the whole graph, or on the first graphs for training.

    Gradients are those of the loss on the training part.

    Raises:
        InputError: The model does not tell its states.
    """
    criterion = measures.build_loss(spec, recipe.trainer.loss, None)
    if dataset.split.unit == "node":
        data: Any = dataset.data
        counted = dataset.split.train
    else:
        graphs = dataset.part("train")
        data = Batch.from_data_list([graphs[i] for i in range(min(GRAPHS, len(graphs)))])
        counted = has_target(data.y)
    try:
        return trajectory_table(model, data, lambda out: criterion(out[counted], data.y[counted]))
    except ValueError as error:
        raise InputError(f"{recipe.model.name} cannot be seen inside: {error}") from error
