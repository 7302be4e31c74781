"""Depth on Cora: a plain GCN against the same layer in oscillators, trained alike at growing depth."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import torch
from torch import Tensor

from graphcon.diagnostics import dirichlet_energy
from graphcon.training.batches import mix
from graphcon.training.config import DataConfig, ModelConfig, OptimizerConfig, Recipe, TrainerConfig
from graphcon.training.load_data import load_dataset
from graphcon.training.loop import Reporter, fit_loop, rehearse
from graphcon.training.model import build
from graphcon.training.run import make_fabric, measure
from graphcon.training.spec import TaskSpec

DEPTHS = (2, 4, 8, 16, 32, 64)
MODELS = ("gcn", "graphcon-gcn")
#: Chosen on validation data.
RECIPE = Recipe(
    data=DataConfig(name="cora"),
    model=ModelConfig(channels=32, input_dropout=0.8, output_dropout=0.5),
    optimizer=OptimizerConfig(lr=0.01, weight_decay=5e-3),
    trainer=TrainerConfig(epochs=60, patience=30),
)
#: Steps of the oscillators are 1 long, and shorter where they would make up more than this: deeper means finer steps.
TIME = 6.0


class Row(NamedTuple):
    """How one network did."""

    model: str
    depth: int
    accuracy: float
    energy: float
    seconds: float


def run(
    seed: int = 0, depths: Sequence[int] = DEPTHS, reporter: Callable[[str, int], Reporter] | None = None
) -> Iterator[Row]:
    """Trains both networks at every depth and yields how each did on test data.

    Args:
        seed: Seed of the split and of the weights.
        depths: The depths.
        reporter: Makes whom to tell how a training goes, from the model and the depth.
    """
    recipe = replace(RECIPE, data=replace(RECIPE.data, split=seed), seed=seed)
    dataset, _ = load_dataset(recipe.data)
    spec = TaskSpec.of(dataset)
    fabric = make_fabric(recipe)
    edge_index = cast(Tensor, dataset.data.edge_index)
    for depth in depths:
        for name in MODELS:
            own = {} if name == "gcn" else {"dt": min(1.0, TIME / depth), "alpha": 0.25, "gamma": 1.25}
            one = replace(recipe, model=replace(recipe.model, name=name, steps=depth, **own))
            torch.manual_seed(mix(seed, -1))
            model = build(one.model, spec)
            rehearse(model, dataset, spec, one, fabric)  # what is loaded once is in nobody's seconds
            told = None if reporter is None else reporter(name, depth)
            fitted = fit_loop(model, dataset, spec, one, fabric, None, told)
            accuracy = measure(model, dataset, spec, one, fabric)["test"]["accuracy"]
            with torch.no_grad():
                state = model.net.embed(dataset.data.x, edge_index)
            yield Row(name, depth, accuracy, float(dirichlet_energy(state, edge_index)), fitted.seconds)
