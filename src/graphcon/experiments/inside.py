"""Networks side by side from the inside: every state's measures, by model and depth."""

from typing import NamedTuple

import polars as pl
import torch

from graphcon.data import GraphDataset
from graphcon.report.inside import table_of
from graphcon.training.batches import mix
from graphcon.training.config import Recipe
from graphcon.training.loop import Reporter, fit_loop
from graphcon.training.model import build
from graphcon.training.run import make_fabric
from graphcon.training.spec import TaskSpec


class Inside(NamedTuple):
    """The states of one network."""

    model: str
    depth: int
    table: pl.DataFrame  # a row per state

    def labelled(self) -> pl.DataFrame:
        """The table with the model and the depth in front."""
        return self.table.select(pl.lit(self.model).alias("model"), pl.lit(self.depth).alias("depth"), pl.all())


def look_inside(recipe: Recipe, dataset: GraphDataset, train: bool = False, reporter: Reporter | None = None) -> Inside:
    """Builds the model of a recipe from its seed, trains it if asked, and measures every state.

    Args:
        recipe: The model, and how it is trained.
        dataset: The data.
        train: Whether it is trained by the recipe, or left with random weights.
        reporter: Whom to tell how the training goes.
    """
    spec = TaskSpec.of(dataset)
    torch.manual_seed(mix(recipe.seed, -1))
    model = build(recipe.model, spec)
    if train:
        fit_loop(model, dataset, spec, recipe, make_fabric(recipe), None, reporter)
    return Inside(recipe.model.name, recipe.model.steps, table_of(model, dataset, spec, recipe))
