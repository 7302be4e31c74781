"""What the training loop costs over the bare forward, backward and optimiser step, on a full-batch graph.

    python benchmarks/loop.py

Both run the same model on the same graph, interleaved, best of several; validation is every `--validate-every`
epochs, as a user sets it, and is part of what the loop costs.
"""

import argparse
import time
from dataclasses import replace

import torch
import torch.nn.functional as F  # noqa: N812  # as PyTorch's own docs name it
from torch import Tensor

from graphcon.training import recipes
from graphcon.training.batches import apply
from graphcon.training.load_data import load_dataset
from graphcon.training.loop import fit_loop
from graphcon.training.model import build
from graphcon.training.run import make_fabric
from graphcon.training.spec import TaskSpec


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default="cora-gcn")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--validate-every", type=int, nargs="+", default=[1, 5, 10**9])
    options = parser.parse_args()
    recipe = recipes.replace(
        recipes.load(options.recipe),
        {"model.steps": options.steps, "trainer.epochs": options.epochs, "trainer.patience": 0},
    )
    dataset, _ = load_dataset(recipe.data)
    spec, fabric = TaskSpec.of(dataset), make_fabric(recipe)
    bare: list[float] = []
    loop: dict[int, list[float]] = {every: [] for every in options.validate_every}
    for _ in range(options.repeats):
        model = build(recipe.model, spec)
        bare.append(_bare(model, dataset, recipe.optimizer.lr, options.epochs))
        for every, seconds in loop.items():
            model = build(recipe.model, spec)
            one = replace(recipe, trainer=replace(recipe.trainer, validate_every=every))
            start = time.perf_counter()
            fit_loop(model, dataset, spec, one, fabric)
            seconds.append(time.perf_counter() - start)
    print(f"{options.recipe}, {options.steps} steps, {options.epochs} epochs, best of {options.repeats}")
    print(f"bare step                {1e3 * min(bare) / options.epochs:7.1f} ms an epoch")
    for every, seconds in loop.items():
        label = f"loop, validating every {every}" if every < 10**9 else "loop, validating at the end"
        print(
            f"{label:<28}{1e3 * min(seconds) / options.epochs:4.1f} ms an epoch, {min(seconds) / min(bare):.3f} times"
        )


def _bare(model: torch.nn.Module, dataset, lr: float, epochs: int) -> float:
    data, train = dataset.data, dataset.split.train
    y: Tensor = data.y
    optimizer = torch.optim.Adam(model.parameters(), lr)
    model.train()
    start = time.perf_counter()
    for _ in range(epochs):
        optimizer.zero_grad()
        F.cross_entropy(apply(model, data)[train], y[train]).backward()
        optimizer.step()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
