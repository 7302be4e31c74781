"""Everything a page says about a run, gathered from its folder and its data."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, cast

import polars as pl
import torch
from torch import Tensor

from graphcon.data import GraphDataset
from graphcon.data._kinds import Part
from graphcon.errors import InputError
from graphcon.report.inside import table_of
from graphcon.training import metrics as measures
from graphcon.training import predict, recipes, run
from graphcon.training.baseline import Baseline, baseline
from graphcon.training.folder import RunFolder
from graphcon.training.run import Trained
from graphcon.training.spec import all_targets, has_target


@dataclass(frozen=True)
class Evidence:
    """A run that has ended, and its data.

    Attributes:
        folder: The run folder.
        trained: Its model.
        dataset: Its data.
        metrics: What is in its ``metrics.json``.
        log: The lines of its ``log.jsonl``.
    """

    folder: RunFolder
    trained: Trained
    dataset: GraphDataset
    metrics: dict[str, Any]
    log: list[dict[str, Any]]

    @classmethod
    def gather(cls, path: Path) -> "Evidence":
        """Reads a run.

        Raises:
            InputError: There is no run, or it has not ended.
        """
        folder = RunFolder.open(path)
        metrics = folder.finished() or folder.read_json(folder.metrics_file)
        log, trained = folder.records(), run.load(path)
        return cls(folder, trained, trained.dataset(), metrics, log)

    @property
    def name(self) -> str:
        """The network in words."""
        model = self.trained.recipe.model
        return f"{model.name}, {model.steps} {'steps' if model.name.startswith('graphcon') else 'layers'}"

    @property
    def metric(self) -> str:
        """What selected the model."""
        return measures.choose_metric(self.trained.spec, self.trained.recipe.trainer.metric)

    @property
    def kin(self) -> str:
        """Equal for runs that differ in seed and split alone, and in where and how fast they were trained."""
        recipe = self.trained.recipe
        return recipes.to_toml(recipes.essence(replace(recipe, seed=0, data=replace(recipe.data, split=0))))

    @cached_property
    def table(self) -> pl.DataFrame:
        """The measures per step."""
        return table_of(self.trained.model, self.dataset, self.trained.spec, self.trained.recipe)

    @cached_property
    def baseline(self) -> Baseline:
        """The constant answer."""
        return baseline(self.dataset, self.trained.spec, self.metric)

    @property
    def part(self) -> Part | None:
        """The part whose answers are shown: test, or validation where there is no test part; None without both."""
        split = self.dataset.split
        return "test" if len(split.test) else "val" if len(split.val) else None

    @cached_property
    def _truth(self) -> Tensor:
        """What is true of that part, a row for each of its nodes or graphs, also where nothing is known."""
        assert self.part is not None
        return all_targets(self.dataset, self.part)

    @cached_property
    def answers(self) -> tuple[Tensor, Tensor]:
        """The model's answers on that part, and what is true, where that is known."""
        assert self.part is not None
        index = getattr(self.dataset.split, self.part)
        if self.dataset.split.unit == "node":
            out = predict.answers(self.trained, self.dataset.graphs)[index]
        else:
            out = predict.answers(self.trained, cast(Any, self.dataset.part(self.part)))
        known = has_target(self._truth)
        return out[known], self._truth[known]

    @cached_property
    def ids(self) -> list[str]:
        """The names of what is answered, where the truth is known: those of own tables, else numbers."""
        return list(compress(self._all_ids(), has_target(self._truth).tolist()))

    def _all_ids(self) -> list[str]:
        assert self.part is not None
        split, config, schema = self.dataset.split, self.trained.recipe.data, self.trained.schema
        index = getattr(split, self.part)
        ids = graph_ids = None
        if schema is not None and config.nodes is not None:
            ids, graph_ids = schema.read_ids(config.nodes, config.graphs)
        if split.unit != self.dataset.task:  # nodes of several graphs
            counts = torch.tensor([graph.num_nodes for graph in self.dataset.graphs])
            first = counts.cumsum(0) - counts
            rows = [(g, i, int(first[g]) + i) for g in index.tolist() for i in range(int(counts[g]))]
            if ids is not None and graph_ids is not None:
                return [f"node {ids[row]} of graph {graph_ids[row]}" for _, _, row in rows]
            return [f"node {node} of graph {graph}" for graph, node, _ in rows]
        if ids is not None:
            return [str(ids[i]) for i in index.tolist()]
        return [f"{split.unit} {i}" for i in index.tolist()]


def gather_all(paths: tuple[Path, ...]) -> list[Evidence]:
    """The runs in some folders; a folder that holds runs stands for all of them.

    Raises:
        InputError: A folder has no run, or they are of different data or metrics.
    """
    places: list[Path] = []
    for path in paths:
        inner = sorted(file.parent for file in path.glob("*/recipe.toml"))
        places += [path] if (path / "recipe.toml").exists() or not inner else inner
    runs = [_gathered(place) for place in places]
    for other in runs[1:]:
        if (other.dataset.name, other.metric) != (runs[0].dataset.name, runs[0].metric):
            raise InputError(
                f"{other.folder.path} is on {other.dataset.name} by {other.metric}, {runs[0].folder.path} on "
                f"{runs[0].dataset.name} by {runs[0].metric}: compare runs of one set and one metric"
            )
    return runs


def _gathered(place: Path) -> Evidence:
    try:
        return Evidence.gather(place)
    except InputError as error:  # of many runs the user must know which
        raise InputError(str(error) if str(place) in str(error) else f"{place}: {error}") from None
