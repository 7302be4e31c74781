from pathlib import Path

import polars as pl
import pytest
import torch

from graphcon.cli import main
from graphcon.training.config import DataConfig, ModelConfig, OptimizerConfig, Recipe, TrainerConfig


@pytest.fixture
def tiny() -> Recipe:
    """A run of seconds on the embedded Cora."""
    return Recipe(
        data=DataConfig(name="cora", normalize=True),
        model=ModelConfig(channels=8, steps=2, dropout=0.3),
        optimizer=OptimizerConfig(lr=0.02),
        trainer=TrainerConfig(epochs=6, threads=1),
    )


@pytest.fixture
def molecules() -> Recipe:
    """A run of seconds on the embedded molecules."""
    return Recipe(
        data=DataConfig(name="solubility", batch_size=256),
        model=ModelConfig(channels=8, steps=2, readout="sum", dropout=0.1),
        trainer=TrainerConfig(epochs=3, threads=1),
    )


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two communities, told apart by a number and a category; node 3 has no label."""
    tmp_path = tmp_path_factory.mktemp("tables")
    generator = torch.Generator().manual_seed(0)
    team = [i % 2 for i in range(60)]
    score = (torch.randn(60, generator=generator) + 2 * torch.tensor(team)).tolist()
    label = [None if i == 3 else ("blue" if t else "red") for i, t in enumerate(team)]
    nodes = pl.DataFrame(
        {"id": [f"n{i}" for i in range(60)], "score": score, "town": [f"t{i % 5}" for i in range(60)], "label": label}
    )
    source = torch.randint(60, (150,), generator=generator)
    target = (source + 2 * torch.randint(1, 29, (150,), generator=generator)) % 60
    edges = pl.DataFrame(
        {
            "source": [f"n{i}" for i in source],
            "target": [f"n{i}" for i in target],
            "weight": torch.rand(150, generator=generator).tolist(),
        }
    )
    nodes.write_csv(tmp_path / "nodes.csv")
    edges.write_csv(tmp_path / "edges.csv")
    nodes.drop("label").head(20).write_parquet(tmp_path / "new_nodes.parquet")
    inside = {f"n{i}" for i in range(20)}
    edges.filter(pl.col("source").is_in(inside) & pl.col("target").is_in(inside)).write_csv(tmp_path / "new_edges.csv")
    return tmp_path


@pytest.fixture(scope="module")
def own(tables: Path) -> Path:
    """A run on own tables, by the command line."""
    data = "--nodes nodes.csv --edges edges.csv --target label"
    settings = "--model.channels 8 --model.steps 2 --trainer.epochs 30 --trainer.threads 1"
    with pytest.MonkeyPatch.context() as here:
        here.chdir(tables)
        assert main(["train", *data.split(), *settings.split(), "--out", "run"]) == 0
    return tables
