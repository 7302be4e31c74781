"""Answers of a trained model, in words a table can hold."""

import dataclasses
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from graphcon._files import write_whole
from graphcon.data import NewData, TableSchema
from graphcon.data.tables.files import typed
from graphcon.errors import InputError
from graphcon.training import metrics as measures
from graphcon.training.batches import apply
from graphcon.training.load_data import divided
from graphcon.training.own_files import check_unchanged
from graphcon.training.run import Trained
from graphcon.training.spec import TaskSpec, has_target

ENDINGS = (".csv", ".parquet")
_OPTION = re.compile(r"--[a-z][a-z-]*")
_OWN_OPTIONS = ("--nodes", "--edges", "--graphs", "--out")


@torch.no_grad()
def answers(trained: Trained, graphs: Sequence[Data], batch_size: int | None = None) -> Tensor:
    """The raw answers of the model for all nodes, or all graphs, in order."""
    size = batch_size or trained.recipe.data.batch_size
    parts = []
    for start in range(0, len(graphs), size):
        chosen: list[Any] = [graphs[i] for i in range(start, min(start + size, len(graphs)))]
        data: Any = chosen[0] if len(graphs) == 1 and trained.spec.task == "node" else Batch.from_data_list(chosen)
        parts.append(apply(trained.model, data))
    return torch.cat(parts)


def predict(
    trained: Trained, nodes: Path | None = None, edges: Path | None = None, graphs: Path | None = None
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """A table of answers: for new tables, or without them for the data of the training.

    Args:
        trained: The model.
        nodes: New table of nodes, read as that of the training was.
        edges: New table of edges.
        graphs: New table of graphs, where these have the target.

    Returns:
        The table, in the order of the rows it answers, and what to know about the new data.
    """
    if nodes is None and edges is None and graphs is None:
        config = trained.recipe.data
        if trained.schema is not None and config.nodes is not None:
            check_unchanged(trained.folder, config, trained.files)
            return predict(trained, config.nodes, config.edges, config.graphs)
        dataset = trained.dataset()
        out = answers(trained, dataset.graphs)
        return as_table(out, trained.spec, [pl.Series("id", range(len(out)))]), ()
    if trained.schema is None:
        raise InputError(
            f"{trained.folder} was trained on the set {trained.recipe.data.name!r}, not on tables, so it cannot read "
            "--nodes: leave it out to predict for that set, or use graphcon.load in Python"
        )
    if nodes is None or edges is None:
        raise InputError(f"{'--nodes' if nodes is None else '--edges'} is missing: new data are two tables")
    new = _read(trained, nodes, edges, graphs, with_target=False)
    # Ids may start anew in every graph.
    ids = [new.ids] if new.graph_ids is None else [new.graph_ids, new.ids]
    table = as_table(answers(trained, new.graphs), trained.spec, ids)
    return table[np.argsort(new.order)], new.notes


def _read(trained: Trained, nodes: Path, edges: Path, graphs: Path | None, *, with_target: bool = True) -> NewData:
    """New tables as the model saw its own; where an option of the training is recommended, that is said."""
    assert trained.schema is not None
    try:
        new = trained.schema.apply(nodes, edges, graphs, with_target=with_target)
    except InputError as error:
        raise InputError(_of_training(str(error))) from None
    seen = list(map(divided, new.graphs)) if trained.recipe.data.normalize else new.graphs
    return dataclasses.replace(new, graphs=seen, notes=tuple(map(_of_training, new.notes)))


def _of_training(words: str) -> str:
    options = [option for option in dict.fromkeys(_OPTION.findall(words)) if option not in _OWN_OPTIONS]
    if not options:
        return words
    named, one = " and ".join(options), len(options) == 1
    return (
        f"{words} ({named} {'is' if one else 'are'} said in training: change the table, or train anew with "
        f"{'it' if one else 'them'}.)"
    )


class Score(NamedTuple):
    """How a model did on new tables."""

    metrics: dict[str, float]
    rows: int  # that have a target, and were measured
    notes: tuple[str, ...]


def score(trained: Trained, nodes: Path, edges: Path, graphs: Path | None) -> Score:
    """The metrics of a model on new tables that hold the target."""
    assert trained.schema is not None
    target, table = ", ".join(trained.schema.target.names), graphs if trained.spec.task == "graph" else nodes
    if table is None:
        raise InputError(f"--graphs is missing: graphs have the target {target!r}, and their table is compared with")
    new = _read(trained, nodes, edges, graphs)
    if not new.has_target:
        raise InputError(f"{table}: has no column {target!r} to compare with: use graphcon predict")
    y = torch.cat([cast(Tensor, graph.y) for graph in new.graphs])
    known = has_target(y)
    if not known.any():
        raise InputError(
            f"{table}: column {target!r} is empty, so there is nothing to compare with: use graphcon predict"
        )
    out = answers(trained, new.graphs)
    collection = measures.build_metrics(trained.spec)
    measures.update(collection, trained.spec, out[known], y[known])
    return Score({name: float(value) for name, value in collection.compute().items()}, int(known.sum()), new.notes)


def as_table(out: Tensor, spec: TaskSpec, ids: Sequence[pl.Series]) -> pl.DataFrame:
    """Labels with probabilities, or values in their own units, after the columns of ids."""
    columns = _answer_columns(out.reshape(len(ids[0]), -1), spec)
    named = {f"{id.name} (id)" if id.name in columns else id.name: id for id in ids}
    return pl.DataFrame(named | columns)


def _answer_columns(out: Tensor, spec: TaskSpec) -> dict[str, pl.Series]:
    if spec.kind == "regression":
        names = spec.target_names or tuple(f"value_{i}" for i in range(spec.num_outputs))
        return {f"predicted {name}": pl.Series(out[:, i].numpy()) for i, name in enumerate(names)}
    names = spec.class_names or tuple(str(i) for i in range(spec.num_outputs))
    if spec.kind == "classification":
        probability = out.softmax(-1)
        columns = {"predicted": pl.Series([names[i] for i in probability.argmax(-1).tolist()])}
    else:
        probability = out.sigmoid()
        columns = {f"predicted {name}": pl.Series((probability[:, i] > 0.5).numpy()) for i, name in enumerate(names)}
    return columns | {f"probability {name}": pl.Series(probability[:, i].numpy()) for i, name in enumerate(names)}


def check_target_file(out: Path, tables: Sequence[Path]) -> None:
    """Refuses a file that cannot be written, or that is one of the tables, before any work is done."""
    if out.suffix not in ENDINGS:
        raise InputError(f"--out {out}: must end in {' or '.join(ENDINGS)}")
    if out.is_dir():
        raise InputError(f"--out {out}: is a folder, but a file is needed")
    for table in tables:
        if out.exists() and table.exists() and out.samefile(table):
            raise InputError(f"--out {out}: is the table {table}, which the answers would replace. Name another file")


def write_table(table: pl.DataFrame, out: Path, schema: TableSchema | None = None) -> None:
    """Writes CSV or Parquet by the ending, whole or not at all; CSV as the tables of the training are written."""
    content = io.BytesIO()
    if out.suffix == ".csv":
        delimiter = typed(schema.delimiter) if schema is not None and schema.delimiter else ","
        table.write_csv(content, separator=delimiter, decimal_comma=schema is not None and schema.decimal == ",")
    else:
        table.write_parquet(content)
    write_whole(out, content.getvalue())
