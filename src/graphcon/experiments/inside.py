"""Networks side by side from the inside: every state's measures, by model and depth."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl
import torch

from graphcon.report.inside import table_of
from graphcon.training.batches import mix
from graphcon.training.config import Recipe
from graphcon.training.load_data import load_dataset
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


def compare(
    recipe: Recipe, models: Sequence[str], depths: Sequence[int], train: bool, reporter: Reporter | None = None
) -> Iterator[Inside]:
    """Builds every model at every depth from the same seed, trains it if asked, and yields what is inside.

    Args:
        recipe: The data, and everything about the networks but their name and depth.
        models: Their names, as in a recipe.
        depths: The depths.
        train: Whether they are trained by the recipe, or left with random weights.
        reporter: Whom to tell how each training goes.
    """
    dataset, _ = load_dataset(recipe.data)
    spec = TaskSpec.of(dataset)
    for depth in depths:
        for name in models:
            one = replace(recipe, model=replace(recipe.model, name=name, steps=depth))
            torch.manual_seed(mix(recipe.seed, -1))
            model = build(one.model, spec)
            if train:
                fit_loop(model, dataset, spec, one, make_fabric(one), None, reporter)
            yield Inside(name, depth, table_of(model, dataset, spec, one))
